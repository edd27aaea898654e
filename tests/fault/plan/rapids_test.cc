// Plans of the RAPIDS Spark fault injector load as they are, or say which entry cannot act.

#include "fault/plan/rapids.h"

#include <gtest/gtest.h>

#include <string>

#include "fault/plan/load.h"
#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

std::string PlaceOfRefusal(const std::string& text) {
  try {
    LoadPlanText(text);
  } catch (const PlanError& error) {
    return error.place();
  }
  return "accepted";
}

TEST(Rapids, ReadsTheDriverSection) {
  const Plan plan = LoadPlanText(R"({
    "logLevel": 1,
    "dynamic": true,
    "seed": 12345,
    "cudaRuntimeFaults": {},
    "cudaDriverFaults": {
      "*": {"percent": 1, "injectionType": 2, "substituteReturnCode": 999, "interceptionCount": 1000},
      "cuLaunchKernel_ptsz": {"percent": 50, "injectionType": 2, "substituteReturnCode": 2, "interceptionCount": 3},
      "cuMemFreeAsync_ptsz": {"percent": 100, "injectionType": 0},
      "cuGraphLaunch": {"percent": 100, "injectionType": 1}
    }})");
  EXPECT_EQ(
      NormalisedPlan(plan),
      R"({"version":1,"seed":"0x0000000000003039","rules":[)"
      R"({"site":"cuLaunchKernel","when":{"times":3,"probability":"1/2"},"do":{"return":"CUDA_ERROR_OUT_OF_MEMORY"}},)"
      R"({"site":"cuMemFreeAsync","do":{"return":"CUDA_ERROR_LAUNCH_FAILED"}},)"
      R"({"site":"cuGraphLaunch","do":{"return":"CUDA_ERROR_ASSERT"}},)"
      R"({"site":"*","when":{"times":1000,"probability":"1/100"},"do":{"return":"CUDA_ERROR_UNKNOWN"}}]})");
}

TEST(Rapids, RefusesWhatCannotAct) {
  const auto with = [](const std::string& entry) { return R"({"cudaDriverFaults": {)" + entry + "}}"; };
  const std::string place = "/cudaDriverFaults/cuInit";
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 0, "injectionType": 0})")), place + "/percent");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 101, "injectionType": 0})")), place + "/percent");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"injectionType": 0})")), place);
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 3})")), place + "/injectionType");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 2})")), place);
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 2, "substituteReturnCode": 0})")),
            place + "/substituteReturnCode");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 2, "substituteReturnCode": 77777})")),
            place + "/substituteReturnCode");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 0, "interceptionCount": 0})")),
            place + "/interceptionCount");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuInit": {"percent": 9, "injectionType": 0, "chance": 1})")), place + "/chance");
  EXPECT_EQ(PlaceOfRefusal(with(R"("214": {"percent": 9, "injectionType": 0})")), "/cudaDriverFaults/214");
  EXPECT_EQ(PlaceOfRefusal(with(R"("alloc": {"percent": 9, "injectionType": 0})")), "/cudaDriverFaults/alloc");
  EXPECT_EQ(PlaceOfRefusal(with(R"("cuGetErrorName": {"percent": 9, "injectionType": 0})")),
            "/cudaDriverFaults/cuGetErrorName/site");
}

TEST(Rapids, RefusesTheRuntimeSectionUnlessItIsEmpty) {
  EXPECT_EQ(PlaceOfRefusal(R"({"cudaRuntimeFaults": {"cudaMalloc": {"percent": 9, "injectionType": 0}}})"),
            "/cudaRuntimeFaults/cudaMalloc");
  EXPECT_EQ(PlaceOfRefusal(R"({"cudaRuntimeFaults": {}})"), "accepted");
  EXPECT_EQ(PlaceOfRefusal(R"({"cudaRuntimeFaults": []})"), "/cudaRuntimeFaults");
}

}  // namespace
}  // namespace holdfast::fault
