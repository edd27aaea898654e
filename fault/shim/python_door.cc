#include "fault/shim/python_door.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>

#include "fault/plan/sites.h"
#include "fault/shim/control.h"
#include "fault/shim/injector.h"

extern "C" const holdfast::fault::ShimControl* holdfast_shim_control();

namespace holdfast::fault {
namespace {

// Addresses come out of the loader's tables as integers.
template <typename Item>
Item* PointerTo(std::uintptr_t address) {
  return reinterpret_cast<Item*>(address);  // NOLINT(performance-no-int-to-ptr)
}

using PendingFunction = int (*)(void*);
using AddPendingCall = int (*)(PendingFunction, void*);
using Symbol = ElfW(Sym);
using Relocation = ElfW(Rela);
using Dynamic = ElfW(Dyn);

constexpr const char* kSymbol = "Py_AddPendingCall";

std::atomic<AddPendingCall> g_real{nullptr};
std::atomic<std::uint64_t> g_loads_seen{0};

int NoOp(void*) { return 0; }

// What every rewritten import calls.
int PendingCallArrived(PendingFunction function, void* argument) {
  const AddPendingCall real = g_real.load(std::memory_order_acquire);
  const SiteDecision decision = holdfast_shim_control()->decide(kSymbol);
  if (decision.delay_ns != 0) std::this_thread::sleep_for(std::chrono::nanoseconds(decision.delay_ns));
  for (std::uint32_t filler = 0; filler < decision.saturate; ++filler) {
    if (real(&NoOp, nullptr) != 0) break;
  }
  if (decision.fails) return static_cast<int>(decision.result);
  return decision.drops ? 0 : real(function, argument);
}

// One loaded object's tables, as its dynamic section names them.
struct Imports {
  const Symbol* symbols = nullptr;
  const char* names = nullptr;
  struct {
    const Relocation* first = nullptr;
    std::size_t bytes = 0;
  } data, calls;
};

Imports ImportsOf(const dl_phdr_info& object, const Dynamic* entry) {
  // The loader has made these addresses absolute, except in objects whose dynamic section it could not write.
  const auto at = [&](ElfW(Addr) address) {
    return PointerTo<const void>(address < object.dlpi_addr ? address + object.dlpi_addr : address);
  };
  Imports imports;
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        imports.symbols = static_cast<const Symbol*>(at(entry->d_un.d_ptr));
        break;
      case DT_STRTAB:
        imports.names = static_cast<const char*>(at(entry->d_un.d_ptr));
        break;
      case DT_RELA:
        imports.data.first = static_cast<const Relocation*>(at(entry->d_un.d_ptr));
        break;
      case DT_RELASZ:
        imports.data.bytes = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        imports.calls.first = static_cast<const Relocation*>(at(entry->d_un.d_ptr));
        break;
      case DT_PLTRELSZ:
        imports.calls.bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return imports;
}

// Whether the loader makes this part of the object read-only once it is relocated.
bool IsReadOnly(const dl_phdr_info& object, std::uintptr_t slot) {
  for (int index = 0; index < object.dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object.dlpi_phdr[index];
    const std::uintptr_t start = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_RELRO && slot >= start && slot < start + part.p_memsz) return true;
  }
  return false;
}

void Redirect(const dl_phdr_info& object, std::uintptr_t slot) {
  std::atomic_ref<void*> target(*PointerTo<void*>(slot));
  void* own = reinterpret_cast<void*>(&PendingCallArrived);
  if (target.load(std::memory_order_relaxed) == own) return;
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = PointerTo<void>(slot & ~(page_bytes - 1));
  const bool read_only = IsReadOnly(object, slot);
  if (read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  target.store(own, std::memory_order_release);
  if (read_only) mprotect(page, page_bytes, PROT_READ);
}

void RedirectAmong(const dl_phdr_info& object, const Imports& imports, const Relocation* first, std::size_t bytes) {
  for (std::size_t index = 0; index < bytes / sizeof(Relocation); ++index) {
    const std::size_t symbol = ELF64_R_SYM(first[index].r_info);
    if (symbol == 0 || std::strcmp(imports.names + imports.symbols[symbol].st_name, kSymbol) != 0) continue;
    if (first[index].r_addend == 0) Redirect(object, object.dlpi_addr + first[index].r_offset);
  }
}

int VisitObject(dl_phdr_info* object, std::size_t, void*) {
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    if (object->dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
    const auto* dynamic = PointerTo<const Dynamic>(object->dlpi_addr + object->dlpi_phdr[index].p_vaddr);
    const Imports imports = ImportsOf(*object, dynamic);
    if (imports.symbols == nullptr || imports.names == nullptr) continue;
    RedirectAmong(*object, imports, imports.data.first, imports.data.bytes);
    RedirectAmong(*object, imports, imports.calls.first, imports.calls.bytes);
  }
  return 0;
}

// How many objects were ever loaded into the process.
std::uint64_t LoadsSoFar() {
  std::uint64_t loads = 0;
  const auto read = [](dl_phdr_info* object, std::size_t, void* out) {
    *static_cast<std::uint64_t*>(out) = object->dlpi_adds;
    return 1;  // the first object says it for all
  };
  dl_iterate_phdr(read, &loads);
  return loads;
}

}  // namespace

void GuardPythonDoor() {
  if (!TheInjector().table().Concerns(PendingCallSite())) return;
  const std::uint64_t loads = LoadsSoFar();
  // Relaxed: at worst two threads rewrite the same slots with the same value.
  if (g_loads_seen.load(std::memory_order_relaxed) == loads) return;
  const auto real = reinterpret_cast<AddPendingCall>(dlsym(RTLD_DEFAULT, kSymbol));
  if (real == nullptr) return;  // no interpreter yet
  g_real.store(real, std::memory_order_release);
  dl_iterate_phdr(&VisitObject, nullptr);
  g_loads_seen.store(loads, std::memory_order_relaxed);
}

}  // namespace holdfast::fault
