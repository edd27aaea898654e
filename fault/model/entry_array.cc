// Entry points: arrays, memory with a pitch, and copies of several rows.
#include <cuda.h>

#include <utility>

#include "fault/model/array.h"
#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"
#include "fault/model/context.h"
#include "fault/model/copy.h"
#include "fault/model/memory.h"
#include "fault/model/node.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

// Rows of cuMemAllocPitch begin at multiples of this.
constexpr std::size_t kPitchStepBytes = 512;

CUDA_MEMCPY3D Deepen(const CUDA_MEMCPY2D& flat) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = flat.srcXInBytes;
  copy.srcY = flat.srcY;
  copy.srcMemoryType = flat.srcMemoryType;
  copy.srcHost = flat.srcHost;
  copy.srcDevice = flat.srcDevice;
  copy.srcArray = flat.srcArray;
  copy.srcPitch = flat.srcPitch;
  copy.dstXInBytes = flat.dstXInBytes;
  copy.dstY = flat.dstY;
  copy.dstMemoryType = flat.dstMemoryType;
  copy.dstHost = flat.dstHost;
  copy.dstDevice = flat.dstDevice;
  copy.dstArray = flat.dstArray;
  copy.dstPitch = flat.dstPitch;
  copy.WidthInBytes = flat.WidthInBytes;
  copy.Height = flat.Height;
  copy.Depth = 1;
  return copy;
}

CompletionPointer SubmitCopy(BoxCopy copy, Stream& stream) {
  StreamWork work;
  if (!IsNothing(copy)) {
    Require(InBounds(copy));
    work.run = [copy = std::move(copy)] {
      if (!Run(copy)) FailContext(CUDA_ERROR_LAUNCH_FAILED, "a copy uses memory that was freed before it ran");
    };
  }
  return Submit(stream, std::move(work));
}

void CopyNow(const CUDA_MEMCPY3D& given) {
  SubmitCopy(MakeBoxCopy(given), *RequireUsableStream(nullptr))->Wait();
  RequireHealthyContext();
}

// A copy of nothing leaves no node in a capture.
void CopyOnStream(const CUDA_MEMCPY3D& given, CUstream stream) {
  const StreamPointer target = RequireUsableStream(stream);
  BoxCopy copy = MakeBoxCopy(given);
  if (IsNothing(copy) && IsCapturing(*target)) return;
  if (CaptureNode(*target, [&given] { return MakeMemcpyNode(given, PrimaryContext()); })) return;
  SubmitCopy(std::move(copy), *target);
}

CUresult CopyFlat(const char* name, const CUDA_MEMCPY2D* given) {
  return Enter(name, Rule::kNormal, [&] {
    Require(given != nullptr);
    CopyNow(Deepen(*given));
  });
}

}  // namespace

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    Require(array != nullptr && descriptor != nullptr);
    RequireCurrentContext();
    *array = CreateArray(*descriptor)->handle;
  });
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    Require(array != nullptr && descriptor != nullptr);
    RequireCurrentContext();
    *array = CreateArray(CUDA_ARRAY3D_DESCRIPTOR{descriptor->Width, descriptor->Height, 0, descriptor->Format,
                                                 descriptor->NumChannels, 0})
                 ->handle;
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(descriptor != nullptr);
    *descriptor = RequireArray(array)->descriptor;
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(descriptor != nullptr);
    const CUDA_ARRAY3D_DESCRIPTOR& whole = RequireArray(array)->descriptor;
    *descriptor = CUDA_ARRAY_DESCRIPTOR{whole.Width, whole.Height, whole.Format, whole.NumChannels};
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return Enter(__func__, Rule::kInCallback, [&] {
    RequireSafe();
    DestroyArray(array);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width_bytes, size_t height,
                            unsigned int element_bytes) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    Require(address != nullptr && pitch != nullptr);
    Require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    Require(width_bytes > 0 && height > 0);
    RequireCurrentContext();
    Require(width_bytes <= kDeviceMemoryBytes && height <= kDeviceMemoryBytes, CUDA_ERROR_OUT_OF_MEMORY);
    const std::size_t row_bytes = (width_bytes + kPitchStepBytes - 1) / kPitchStepBytes * kPitchStepBytes;
    Require(height <= kDeviceMemoryBytes / row_bytes, CUDA_ERROR_OUT_OF_MEMORY);
    *address = Allocate(row_bytes * height, MemoryKind::kDevice);
    *pitch = row_bytes;
  });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return CopyFlat(__func__, copy); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return CopyFlat(__func__, copy); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(copy != nullptr);
    CopyNow(*copy);
  });
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(copy != nullptr);
    CopyOnStream(Deepen(*copy), stream);
  });
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(copy != nullptr);
    CopyOnStream(*copy, stream);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
