#include "fault/shim/imports.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace holdfast::fault {
namespace {

using Symbol = ElfW(Sym);
using Relocation = ElfW(Rela);
using Dynamic = ElfW(Dyn);

#if defined(__x86_64__)
constexpr std::uint32_t kSlotOfData = R_X86_64_GLOB_DAT;
constexpr std::uint32_t kSlotOfCalls = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kPointer = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kSlotOfData = R_AARCH64_GLOB_DAT;
constexpr std::uint32_t kSlotOfCalls = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kPointer = R_AARCH64_ABS64;
#else
#error "the relocations of imports are known for x86-64 and AArch64"
#endif

// Addresses come out of the loader's tables as integers.
template <typename Item>
Item* PointerTo(std::uintptr_t address) {
  return reinterpret_cast<Item*>(address);  // NOLINT(performance-no-int-to-ptr)
}

struct Relocations {
  const Relocation* first = nullptr;
  std::size_t bytes = 0;
  std::size_t relative = 0;  // so many at the front name no symbol
};

// One loaded object's tables, as its dynamic section names them.
struct Tables {
  const Symbol* symbols = nullptr;
  const char* names = nullptr;
  Relocations data, calls;
};

Tables TablesOf(const dl_phdr_info& object, const Dynamic* entry) {
  // The loader has made these addresses absolute, except in objects whose dynamic section it could not write.
  const auto at = [&](ElfW(Addr) address) {
    return PointerTo<const void>(address < object.dlpi_addr ? address + object.dlpi_addr : address);
  };
  Tables tables;
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = static_cast<const Symbol*>(at(entry->d_un.d_ptr));
        break;
      case DT_STRTAB:
        tables.names = static_cast<const char*>(at(entry->d_un.d_ptr));
        break;
      case DT_RELA:
        tables.data.first = static_cast<const Relocation*>(at(entry->d_un.d_ptr));
        break;
      case DT_RELASZ:
        tables.data.bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        tables.data.relative = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        tables.calls.first = static_cast<const Relocation*>(at(entry->d_un.d_ptr));
        break;
      case DT_PLTRELSZ:
        tables.calls.bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return tables;
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

bool IsThisLibrary(const dl_phdr_info& object) {
  const auto own = reinterpret_cast<std::uintptr_t>(&IsReadOnly);
  for (int index = 0; index < object.dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object.dlpi_phdr[index];
    const std::uintptr_t start = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && own >= start && own < start + part.p_memsz) return true;
  }
  return false;
}

// Two threads cannot be here at once, so neither makes a page read-only that the other is about to write.
void Redirect(const dl_phdr_info& object, std::uint32_t type, std::uintptr_t slot, const Redirection& redirection) {
  std::atomic_ref<void*> target(*PointerTo<void*>(slot));
  // Memory ordering: relaxed to read, since only an address is compared; release to write, so that whoever calls
  // through the slot finds the replacement ready.
  const void* present = target.load(std::memory_order_relaxed);
  if (present == redirection.replacement) return;
  // A pointer in the object's data may have been set to something else meanwhile.
  if (type == kPointer && present != redirection.original) return;
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = PointerTo<void>(slot & ~(page_bytes - 1));
  const bool read_only = IsReadOnly(object, slot);
  if (read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  target.store(redirection.replacement, std::memory_order_release);
  if (read_only) mprotect(page, page_bytes, PROT_READ);
}

void RedirectAmong(const dl_phdr_info& object, const Tables& tables, const Relocations& relocations,
                   std::span<const Redirection> redirections) {
  const std::size_t count = relocations.bytes / sizeof(Relocation);
  for (std::size_t index = relocations.relative; index < count; ++index) {
    const Relocation& relocation = relocations.first[index];
    const std::size_t symbol = ELF64_R_SYM(relocation.r_info);
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    if (symbol == 0 || relocation.r_addend != 0) continue;
    if (type != kSlotOfData && type != kSlotOfCalls && type != kPointer) continue;
    const char* name = tables.names + tables.symbols[symbol].st_name;
    for (const Redirection& redirection : redirections) {
      if (std::strcmp(name, redirection.symbol) != 0) continue;
      Redirect(object, type, object.dlpi_addr + relocation.r_offset, redirection);
    }
  }
}

void RedirectIn(const dl_phdr_info& object, std::span<const Redirection> redirections) {
  for (int index = 0; index < object.dlpi_phnum; ++index) {
    if (object.dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
    const auto* dynamic = PointerTo<const Dynamic>(object.dlpi_addr + object.dlpi_phdr[index].p_vaddr);
    const Tables tables = TablesOf(object, dynamic);
    if (tables.symbols == nullptr || tables.names == nullptr) continue;
    RedirectAmong(object, tables, tables.data, redirections);
    RedirectAmong(object, tables, tables.calls, redirections);
  }
}

// New objects are appended, so as long as none was unloaded the first g_objects_done ones are done.
// Memory ordering: relaxed throughout. The loader's lock, which a walk holds from the first object to the last, guards
// these; they are atomic for checkers that do not know of it.
std::atomic<std::uint64_t> g_unloads{0};
std::atomic<std::size_t> g_objects_done{0};

struct Walk {
  std::span<const Redirection> redirections;
  std::uint64_t settled = 0;
  std::size_t visited = 0;
};

int VisitObject(dl_phdr_info* object, std::size_t, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (walk.visited == 0 && g_unloads.exchange(object->dlpi_subs, std::memory_order_relaxed) != object->dlpi_subs) {
    g_objects_done.store(0, std::memory_order_relaxed);
  }
  const std::size_t done = g_objects_done.load(std::memory_order_relaxed);
  if (walk.visited++ < done) return 0;
  if (!IsThisLibrary(*object)) RedirectIn(*object, walk.redirections);
  // An object in the middle of being loaded is listed before its imports are bound, which undoes what was done to them.
  const std::size_t unsettled = object->dlpi_adds - walk.settled;
  if (walk.visited > done + unsettled) g_objects_done.store(walk.visited - unsettled, std::memory_order_relaxed);
  return 0;
}

}  // namespace

std::uint64_t LoadsSoFar() {
  std::uint64_t loads = 0;
  const auto read = [](dl_phdr_info* object, std::size_t, void* out) {
    *static_cast<std::uint64_t*>(out) = object->dlpi_adds;
    return 1;  // the first object says it for all
  };
  dl_iterate_phdr(read, &loads);
  return loads;
}

void RedirectImports(std::span<const Redirection> redirections, std::uint64_t settled) {
  Walk walk{redirections, settled};
  dl_iterate_phdr(&VisitObject, &walk);
}

}  // namespace holdfast::fault
