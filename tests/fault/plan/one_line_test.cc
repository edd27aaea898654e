// The one-line form of a rule: what it means, and where it says that it is wrong.

#include "fault/plan/one_line.h"

#include <gtest/gtest.h>

#include <string>

#include "fault/plan/load.h"
#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

std::string Normalised(const std::string& rule) {
  return NormalisedPlan(WithCommandLine(Plan{}, {rule}, std::nullopt));
}

// The sentence with which the rule is refused.
std::string Refusal(const std::string& rule) {
  try {
    WithCommandLine(Plan{}, {rule}, std::nullopt);
  } catch (const PlanError& error) {
    return error.what();
  }
  return "accepted";
}

void ExpectRefusedAt(const std::string& rule, const std::string& place) {
  EXPECT_EQ(Refusal(rule).substr(0, place.size() + 2), place + ": ") << Refusal(rule);
}

TEST(OneLine, MeansWhatTheDocumentSays) {
  EXPECT_EQ(Normalised("cuGraphAddHostNode:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"),
            R"({"version":1,"rules":[{"site":"cuGraphAddHostNode","when":{"nth":1},)"
            R"("do":{"return":"CUDA_ERROR_OUT_OF_MEMORY"}}]})");
  EXPECT_EQ(Normalised("Py_AddPendingCall:first=40,return=-1"),
            R"({"version":1,"rules":[{"site":"Py_AddPendingCall","when":{"first":40},"do":{"return":-1}}]})");
  EXPECT_EQ(
      Normalised("destructor:deliver=thread,delay=200us,order=lifo"),
      R"({"version":1,"rules":[{"site":"destructor","do":{"delay":"200us","deliver":"thread","order":"lifo"}}]})");
  EXPECT_EQ(Normalised("alloc:nth=3,fail"),
            R"({"version":1,"rules":[{"site":"alloc","when":{"nth":3},"do":{"fail":true}}]})");
}

TEST(OneLine, TellsTheTwoMeaningsOfAfterApart) {
  EXPECT_EQ(Normalised("cuGraphDestroy:after=3,after,return=CUDA_ERROR_UNKNOWN"),
            R"({"version":1,"rules":[{"site":"cuGraphDestroy","when":{"after":3},)"
            R"("do":{"return":"CUDA_ERROR_UNKNOWN","after":true}}]})");
}

TEST(OneLine, CountsFromAStep) {
  EXPECT_EQ(Normalised("cuGraphAddHostNode:nth=2,step=operation,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"),
            R"({"version":1,"rules":[{"site":"cuGraphAddHostNode","when":{"nth":2,"step":"operation","count":"step"},)"
            R"("do":{"return":"CUDA_ERROR_OUT_OF_MEMORY"}}]})");
  EXPECT_EQ(Normalised("cuGraphDestroy:after=1,step=operation,count=step,return=CUDA_ERROR_LAUNCH_FAILED,after"),
            R"({"version":1,"rules":[{"site":"cuGraphDestroy","when":{"after":1,"step":"operation","count":"step"},)"
            R"("do":{"return":"CUDA_ERROR_LAUNCH_FAILED","after":true}}]})");
  ExpectRefusedAt("cuInit:nth=1,count=step,return=CUDA_ERROR_UNKNOWN", "--fault[0]/when/count");
}

TEST(OneLine, SaysWhatReleasesACall) {
  EXPECT_EQ(Normalised("cuGraphLaunch:nth=1,hold=step:go"),
            R"({"version":1,"rules":[{"site":"cuGraphLaunch","when":{"nth":1},"do":{"hold":{"step":"go"}}}]})");
  ExpectRefusedAt("cuGraphLaunch:hold=go", "--fault[0]/do/hold");
  ExpectRefusedAt("cuGraphLaunch:hold=rule:4", "--fault[0]/do/hold/rule");
}

TEST(OneLine, SaysHowLongTheQueueStaysFull) {
  EXPECT_EQ(Normalised("Py_AddPendingCall:nth=1,saturate=64,until=step:room,record"),
            R"({"version":1,"rules":[{"site":"Py_AddPendingCall","when":{"nth":1},)"
            R"("do":{"saturate":64,"until":{"step":"room"},"record":true}}]})");
  ExpectRefusedAt("Py_AddPendingCall:saturate=64,until=room", "--fault[0]/do/until");
  ExpectRefusedAt("Py_AddPendingCall:until=step:room,drop", "--fault[0]/do/until");
}

TEST(OneLine, TakesAnyVersionOfACallForItsSite) {
  EXPECT_EQ(Normalised("cuMemAlloc_v2:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"),
            Normalised("cuMemAlloc:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_EQ(Normalised("cuGraphInstantiateWithFlags:nth=1,return=CUDA_ERROR_UNKNOWN"),
            Normalised("cuGraphInstantiate:nth=1,return=CUDA_ERROR_UNKNOWN"));
}

TEST(OneLine, PointsAtWhatIsWrong) {
  ExpectRefusedAt("", "--fault[0]");
  ExpectRefusedAt("cuInit", "--fault[0]");
  ExpectRefusedAt("cuInit:", "--fault[0], column 8");
  ExpectRefusedAt("cuInit:nth=1,,fail", "--fault[0], column 14");
  ExpectRefusedAt("cuInit:nht=1", "--fault[0], column 8");
  ExpectRefusedAt("cuInit:nth=one,return=CUDA_ERROR_UNKNOWN", "--fault[0]/when/nth");
  ExpectRefusedAt("cuInit:nth=1,nth=2,return=CUDA_ERROR_UNKNOWN", "--fault[0]/when/nth");
  ExpectRefusedAt("cuInitt:nth=1,return=CUDA_ERROR_UNKNOWN", "--fault[0]/site");
  ExpectRefusedAt("cuInit:nth=1,return=ENOMEM", "--fault[0]/do/return");
}

TEST(OneLine, SaysWhatANumberShouldHaveBeen) {
  EXPECT_EQ(Refusal("cuInit:nth=99999999999999999999,return=CUDA_ERROR_UNKNOWN"),
            "--fault[0]/when/nth: the number is too large; the most is 9007199254740992");
  EXPECT_EQ(Refusal("cuGraphAddHostNode:return=1"),
            "--fault[0]/do/return: must be the name of a CUresult, such as CUDA_ERROR_UNKNOWN, not an integer");
}

TEST(OneLine, NamesTheNearestWord) {
  EXPECT_NE(Refusal("cuGraphAddHostNod:nth=1,fail").find("did you mean cuGraphAddHostNode?"), std::string::npos);
  EXPECT_NE(Refusal("cuInit:retrun=CUDA_ERROR_UNKNOWN").find("did you mean return?"), std::string::npos);
  EXPECT_NE(Refusal("cuInit:return=CUDA_ERROR_OUT_OF_MEMROY").find("did you mean CUDA_ERROR_OUT_OF_MEMORY?"),
            std::string::npos);
}

TEST(OneLine, ComesBeforeTheRulesOfTheFile) {
  Plan file = LoadPlanText(R"({"version": 1, "rules": [
    {"site": "cuInit", "when": {"nth": 2}, "do": {"return": "CUDA_ERROR_UNKNOWN"}},
    {"site": "cuGraphLaunch", "when": {"nth": 2}, "do": {"hold": {"rule": 0}}}]})");
  const Plan plan = WithCommandLine(std::move(file), {"cuInit:nth=1,return=CUDA_ERROR_NO_DEVICE"}, 7);
  ASSERT_EQ(plan.rules.size(), 3U);
  EXPECT_EQ(plan.rules[0].place, "--fault[0]");
  EXPECT_EQ(plan.rules[2].action.hold->rule, 1U);  // still the file's first rule
  EXPECT_EQ(plan.seed, 7U);
}

TEST(OneLine, IsRefusedWhereTheCommandLineShadowsTheFile) {
  Plan file = LoadPlanText(
      R"({"version": 1, "rules": [{"site": "cuInit", "when": {"nth": 2}, "do": {"return": "CUDA_ERROR_UNKNOWN"}}]})");
  EXPECT_THROW(WithCommandLine(std::move(file), {"cuInit:return=CUDA_ERROR_NO_DEVICE"}, std::nullopt), PlanError);
}

}  // namespace
}  // namespace holdfast::fault
