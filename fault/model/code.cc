#include "fault/model/code.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "fault/model/call.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

struct Image {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  std::vector<std::shared_ptr<Kernel>> kernels;
  CUresult flaw = CUDA_SUCCESS;  // what a look into the image answers
};

struct Code {
  HandleTable<CUmodule, Image, HandleKind::kModule> modules;
  HandleTable<CUlibrary, Image, HandleKind::kLibrary> libraries;
  HandleTable<CUfunction, Kernel, HandleKind::kFunction> functions;
  HandleTable<CUkernel, Kernel, HandleKind::kKernel> kernels;
  std::mutex mutex;
  std::map<std::string, HostKernel, std::less<>> bodies;  // guarded by mutex
  std::map<Image*, std::unique_ptr<Image>> images;        // guarded by mutex
};

Code& All() {
  static auto* code = new Code;
  return *code;
}

HostKernel BodyOf(const std::string& name) {
  Code& code = All();
  const std::lock_guard<std::mutex> lock(code.mutex);
  const auto found = code.bodies.find(name);
  return found == code.bodies.end() ? nullptr : found->second;
}

// Binary images begin with ELF's or the fat binary's magic number.
bool IsBinary(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof(magic));
  return magic == 0x464c457fu || magic == 0xba55ed50u || magic == 0x466243b1u;
}

std::unique_ptr<Image> ParseImage(const void* data) {
  Require(data != nullptr);
  if (IsBinary(data)) throw Unmodelled{};
  std::vector<PtxEntry> entries;
  const std::string_view text = static_cast<const char*>(data);
  Require(text.find(".version") != std::string_view::npos, CUDA_ERROR_INVALID_IMAGE);
  Require(ParsePtx(text, &entries), CUDA_ERROR_INVALID_PTX);
  const int target = PtxTarget(text);
  auto image = std::make_unique<Image>();
  for (PtxEntry& entry : entries) {
    auto kernel = std::make_shared<Kernel>();
    kernel->body = BodyOf(entry.name);
    kernel->ptx_version = target;
    kernel->name = std::move(entry.name);
    kernel->parameters = std::move(entry.parameters);
    image->kernels.push_back(std::move(kernel));
  }
  return image;
}

void Unload(Image* image) {
  Code& code = All();
  std::unique_ptr<Image> gone;
  {
    const std::lock_guard<std::mutex> lock(code.mutex);
    gone = std::move(code.images.at(image));
    code.images.erase(image);
  }
  for (const std::shared_ptr<Kernel>& kernel : gone->kernels) {
    kernel->loaded.store(false, std::memory_order_relaxed);
    code.functions.Erase(kernel->function);
    if (kernel->kernel != nullptr) code.kernels.Erase(kernel->kernel);
  }
}

[[noreturn]] void RefuseDead(CUlibrary library) {
  if (All().libraries.State(library) == HandleState::kDead) {
    Misuse("the library is unloaded already (the real driver crashes)");
  }
  throw Refusal{CUDA_ERROR_INVALID_HANDLE};
}

// The entry of that name which has something to run.
Kernel& KernelNamed(const Image& image, const char* name) {
  Require(name != nullptr);
  for (const std::shared_ptr<Kernel>& kernel : image.kernels) {
    if (kernel->name == name && kernel->body != nullptr) return *kernel;
  }
  throw Refusal{CUDA_ERROR_NOT_FOUND};
}

}  // namespace

struct KernelArguments::Block {
  std::vector<std::byte> bytes;
  std::vector<void*> pointers;
  // What a getter gives for arguments that came as a buffer; empty if they came one by one.
  std::vector<void*> extra;
  std::size_t extra_bytes = 0;
};

namespace {

struct ArgumentBuffer {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

ArgumentBuffer ReadExtra(void** extra) {
  ArgumentBuffer buffer;
  for (void** item = extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
    if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer.data = item[1];
    } else if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      buffer.bytes = *static_cast<std::size_t*>(item[1]);
    } else {
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
    }
  }
  Require(buffer.data != nullptr);
  return buffer;
}

}  // namespace

KernelArguments::KernelArguments(const Kernel& kernel, void** parameters, void** extra) {
  if (kernel.parameters.empty()) return;
  Require((parameters != nullptr) != (extra != nullptr));
  auto block = std::make_shared<Block>();
  const KernelParameter& last = kernel.parameters.back();
  block->bytes.resize(last.offset + last.bytes);
  if (extra != nullptr) {
    const ArgumentBuffer buffer = ReadExtra(extra);
    Require(buffer.bytes <= block->bytes.size());
    std::memcpy(block->bytes.data(), buffer.data, buffer.bytes);
    block->extra_bytes = buffer.bytes;
    block->extra = {CU_LAUNCH_PARAM_BUFFER_POINTER, block->bytes.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                    &block->extra_bytes, CU_LAUNCH_PARAM_END};
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::byte* place = block->bytes.data() + kernel.parameters[i].offset;
    if (parameters != nullptr) {
      Require(parameters[i] != nullptr);
      std::memcpy(place, parameters[i], kernel.parameters[i].bytes);
    }
    block->pointers.push_back(place);
  }
  block_ = std::move(block);
}

void** KernelArguments::pointers() const {
  return block_ == nullptr ? nullptr : const_cast<void**>(block_->pointers.data());
}

void** KernelArguments::given_pointers() const {
  return block_ == nullptr || !block_->extra.empty() ? nullptr : pointers();
}

void** KernelArguments::given_extra() const {
  return block_ == nullptr || block_->extra.empty() ? nullptr : const_cast<void**>(block_->extra.data());
}

void RegisterKernel(const char* name, HostKernel body) {
  Code& code = All();
  const std::lock_guard<std::mutex> lock(code.mutex);
  code.bodies[name] = body;
}

CUmodule LoadModule(const void* data) {
  std::unique_ptr<Image> image = ParseImage(data);
  Code& code = All();
  const std::lock_guard<std::mutex> lock(code.mutex);
  image->module = code.modules.Insert(image.get());
  for (const std::shared_ptr<Kernel>& kernel : image->kernels) {
    kernel->module = image->module;
    kernel->function = code.functions.Insert(kernel.get());
  }
  const CUmodule handle = image->module;
  Image* key = image.get();
  code.images.emplace(key, std::move(image));
  return handle;
}

void UnloadModule(CUmodule module) {
  Image* image = All().modules.Take(module);
  Require(image != nullptr, CUDA_ERROR_INVALID_HANDLE);
  Unload(image);
}

// A library is parsed when it is first asked for something: text that cannot be read still loads.
CUlibrary LoadLibrary(const void* data) {
  std::unique_ptr<Image> image;
  try {
    image = ParseImage(data);
  } catch (const Refusal& refusal) {
    Require(refusal.result != CUDA_ERROR_INVALID_VALUE);
    image = std::make_unique<Image>();
    image->flaw = refusal.result;
  }
  Code& code = All();
  const std::lock_guard<std::mutex> lock(code.mutex);
  image->library = code.libraries.Insert(image.get());
  for (const std::shared_ptr<Kernel>& kernel : image->kernels) {
    kernel->library = image->library;
    kernel->function = code.functions.Insert(kernel.get());
    kernel->kernel = code.kernels.Insert(kernel.get());
  }
  const CUlibrary handle = image->library;
  Image* key = image.get();
  code.images.emplace(key, std::move(image));
  return handle;
}

void UnloadLibrary(CUlibrary library) {
  Image* image = All().libraries.Take(library);
  if (image == nullptr) RefuseDead(library);
  Unload(image);
}

void UnloadAllCode() {
  Code& code = All();
  std::vector<Image*> images;
  {
    const std::lock_guard<std::mutex> lock(code.mutex);
    for (const auto& [image, owner] : code.images) images.push_back(image);
  }
  for (Image* image : images) {
    if (image->module != nullptr) {
      UnloadModule(image->module);
    } else {
      UnloadLibrary(image->library);
    }
  }
}

std::uint64_t LiveLibraries() { return All().modules.live() + All().libraries.live(); }

CUfunction ModuleFunction(CUmodule module, const char* name) {
  const Image* image = All().modules.Find(module);
  Require(image != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return KernelNamed(*image, name).function;
}

CUkernel LibraryKernel(CUlibrary library, const char* name) {
  const Image* image = All().libraries.Find(library);
  if (image == nullptr) RefuseDead(library);
  Require(image->flaw == CUDA_SUCCESS, image->flaw);
  return KernelNamed(*image, name).kernel;
}

std::vector<CUkernel> LibraryKernels(CUlibrary library) {
  const Image* image = All().libraries.Find(library);
  if (image == nullptr) RefuseDead(library);
  std::vector<CUkernel> kernels;
  for (const std::shared_ptr<Kernel>& kernel : image->kernels) kernels.push_back(kernel->kernel);
  return kernels;
}

KernelPointer RequireFunction(CUfunction function) {
  Kernel* kernel = All().functions.Find(function);
  Require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel->shared_from_this();
}

KernelPointer RequireLaunchable(CUfunction function) {
  Kernel* kernel = All().kernels.Find(reinterpret_cast<CUkernel>(function));
  return kernel != nullptr ? kernel->shared_from_this() : RequireFunction(function);
}

KernelPointer RequireKernel(CUkernel handle) {
  Kernel* kernel = All().kernels.Find(handle);
  Require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel->shared_from_this();
}

void RunKernel(const Kernel& kernel, const KernelArguments& arguments, const LaunchShape& shape) {
  kernel.body(arguments.pointers(), shape);
}

}  // namespace holdfast::fault::model
