// Which version of a call an address is: by the address where the driver exports it, else by the rules of the table.

#include "fault/shim/identify.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace holdfast::fault {
namespace {

// A driver that exports each entry point at an address of its own.
class Exports {
 public:
  Exports() : addresses_(kEntryCount) {
    for (std::size_t index = 0; index < kEntryCount; ++index) addresses_[index] = &storage_[index];
  }
  const void* AddressOf(Entry entry) const { return addresses_[static_cast<std::size_t>(entry)]; }
  void Share(Entry entry, Entry other) {
    addresses_[static_cast<std::size_t>(entry)] = addresses_[static_cast<std::size_t>(other)];
  }
  std::optional<Entry> Identify(std::string_view symbol, int version, const void* answer,
                                bool per_thread = false) const {
    return IdentifyAnswer({symbol, version, per_thread, answer}, addresses_);
  }

 private:
  inline static std::array<char, kEntryCount> storage_;
  std::vector<void*> addresses_;
};

const char g_elsewhere = 0;  // an address that no driver exports

TEST(Identify, TrustsTheAddress) {
  const Exports exports;
  for (const Entry entry : {Entry::cuMemAlloc, Entry::cuMemAlloc_v2, Entry::cuGraphInstantiateWithFlags,
                            Entry::cuStreamGetCaptureInfo_v2_ptsz}) {
    EXPECT_EQ(exports.Identify("cuMemAlloc", 1, exports.AddressOf(entry)), entry);
  }
}

TEST(Identify, TellsExportsThatShareAnAddressApartByName) {
  Exports exports;
  exports.Share(Entry::cuGraphLaunch_ptsz, Entry::cuGraphLaunch);
  exports.Share(Entry::cuMemAllocHost, Entry::cuGraphLaunch);
  const void* answer = exports.AddressOf(Entry::cuGraphLaunch);
  EXPECT_EQ(exports.Identify("cuGraphLaunch", 12000, answer), Entry::cuGraphLaunch);
  EXPECT_EQ(exports.Identify("cuGraphLaunch", 12000, answer, /*per_thread=*/true), Entry::cuGraphLaunch_ptsz);
}

TEST(Identify, FallsBackOnNameAndVersion) {
  const Exports exports;
  const auto by_name = [&](std::string_view symbol, int version, bool per_thread = false) {
    return exports.Identify(symbol, version, &g_elsewhere, per_thread);
  };
  EXPECT_EQ(by_name("cuMemAlloc", 12000), Entry::cuMemAlloc_v2);
  EXPECT_EQ(by_name("cuMemAlloc", 2000), Entry::cuMemAlloc);
  EXPECT_EQ(by_name("cuStreamGetCaptureInfo", 11030), Entry::cuStreamGetCaptureInfo_v2);
  EXPECT_EQ(by_name("cuStreamGetCaptureInfo", 13000), Entry::cuStreamGetCaptureInfo_v3);
  EXPECT_EQ(by_name("cuStreamGetCaptureInfo", 13000, true), Entry::cuStreamGetCaptureInfo_v3_ptsz);
  EXPECT_EQ(by_name("cuGraphInstantiate", 10000), Entry::cuGraphInstantiate);
  EXPECT_EQ(by_name("cuGraphInstantiate", 12000), Entry::cuGraphInstantiate_v2);  // other parameters than WithFlags
  EXPECT_EQ(by_name("cuMemAlloc_v2", 12000), Entry::cuMemAlloc_v2);
  EXPECT_EQ(by_name("cuGetProcAddress", 11030), Entry::cuGetProcAddress);
  EXPECT_EQ(by_name("cuGetProcAddress", 12000), Entry::cuGetProcAddress_v2);
  EXPECT_EQ(by_name("cuMemFree", 12000, /*per_thread=*/true), Entry::cuMemFree_v2);  // it has no such flavour
}

TEST(Identify, LeavesACallAloneThatTheTableLacks) {
  EXPECT_EQ(Exports().Identify("cuCallOfTomorrow", 14000, &g_elsewhere), std::nullopt);
}

}  // namespace
}  // namespace holdfast::fault
