// Loading and printing a plan as a library does it; the plans of data/ are plan_schema_test.py's business.

#include "fault/plan/load.h"

#include <gtest/gtest.h>

#include <string>

#include "fault/plan/document.h"
#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

Plan Loaded(const std::string& rule) { return LoadPlanText(R"({"version": 1, "rules": [)" + rule + "]}"); }

TEST(Load, NormalisesSpelling) {
  EXPECT_EQ(NormalisedPlan(LoadPlanText(R"(
    { "rules": [ // members in another order, units and ratios not in their shortest form
      {"do": {"after": true, "return": "CUDA_ERROR_UNKNOWN", "delay": "2000000ns"}, "site": "cuMemFree_v2",
       "when": {"probability": "8/64", "thread": 3}}],
      "seed": "10", "version": 1 })")),
            R"({"version":1,"seed":"0x000000000000000a","rules":[{"site":"cuMemFree",)"
            R"("when":{"probability":"1/8","thread":"subject-3"},)"
            R"("do":{"return":"CUDA_ERROR_UNKNOWN","after":true,"delay":"2ms"}}]})");
}

TEST(Load, EscapesStepsInTheNormalisedForm) {
  const std::string text =
      NormalisedPlan(Loaded(R"({"site": "alloc", "when": {"step": "a\"b\\c\n\u00e4"}, "do": {"fail": true}})"));
  EXPECT_NE(text.find(R"("step":"a\"b\\c\u000aä")"), std::string::npos) << text;
  EXPECT_EQ(NormalisedPlan(LoadPlanText(text)), text);
}

TEST(Load, DigestsTheRulesAndNotTheSeed) {
  Plan plan = Loaded(R"({"site": "alloc", "when": {"nth": 1}, "do": {"fail": true}})");
  const std::string digest = PlanDigest(plan);
  EXPECT_EQ(digest.size(), 16U);
  plan.seed = 5;
  EXPECT_EQ(PlanDigest(plan), digest);
  EXPECT_NE(PlanDigest(Loaded(R"({"site": "alloc", "when": {"nth": 2}, "do": {"fail": true}})")), digest);
}

TEST(Load, RefusesAHugeDocument) {
  const std::string huge = R"({"version": 1, "rules": []})" + std::string(kLargestDocumentBytes, ' ');
  EXPECT_THROW(LoadPlanText(huge), PlanError);
}

TEST(Load, RefusesADeepDocument) {
  try {
    LoadPlanText(std::string(100'000, '['));
    FAIL() << "accepted";
  } catch (const PlanError& error) {
    EXPECT_EQ(error.place(), "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0");
  }
}

TEST(Load, RefusesFilesThatAreNone) {
  EXPECT_THROW(LoadPlanFile("/nonexistent/plan.json"), PlanError);
  EXPECT_THROW(LoadPlanFile("/"), PlanError);
  EXPECT_THROW(LoadPlanFile("/dev/zero"), PlanError);  // a file without end
  EXPECT_THROW(LoadPlanFile("/dev/null"), PlanError);
}

TEST(Load, EscapesPointersAndKeepsSentencesOnOneLine) {
  try {
    LoadPlanText("{\"version\": 1, \"rules\": [], \"a/b~c\\nd\": 1}");
    FAIL() << "accepted";
  } catch (const PlanError& error) {
    EXPECT_EQ(error.place(), "/a~1b~0c?d");
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(Load, SeesARuleThatAnEarlierOneLeavesNothingTo) {
  const std::string action = R"("do": {"return": "CUDA_ERROR_UNKNOWN"}})";
  const auto pair = [&](const std::string& first, const std::string& second) {
    const std::string start = R"({"site": "cuInit", "when": )";
    return start + first + ", " + action + ", " + start + second + ", " + action;
  };
  EXPECT_THROW(Loaded(pair("{}", R"({"nth": 1})")), PlanError);
  EXPECT_THROW(Loaded(pair(R"({"every": 2})", R"({"every": 4})")), PlanError);
  EXPECT_THROW(Loaded(pair(R"({"first": 5})", R"({"first": 2, "thread": "main"})")), PlanError);
  EXPECT_NO_THROW(Loaded(pair(R"({"every": 4})", R"({"every": 2})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"every": 2})", R"({"every": 3})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"first": 2})", R"({"first": 5})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"probability": "1/2"})", R"({"nth": 1})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"times": 2})", R"({"nth": 9})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"while": "drain"})", R"({"nth": 1})")));
  EXPECT_NO_THROW(Loaded(pair(R"({"thread": "main"})", R"({"thread": "subject"})")));
}

TEST(Sites, AreFoundByAnyOfTheirNames) {
  EXPECT_EQ(SiteName(FindSite("cuMemAlloc_v2")), "cuMemAlloc");
  EXPECT_EQ(SiteName(FindSite("cuMemcpyHtoD_v2_ptds")), "cuMemcpyHtoD");
  EXPECT_EQ(SiteName(FindSite("destructor")), "destructor");
  EXPECT_EQ(FindSite("cuMemAlloc_v9"), kNoSite);
  for (const EntryPoint& entry_point : AllEntryPoints()) EXPECT_EQ(FindSite(entry_point.name), entry_point.site);
}

TEST(Sites, GiveTheReasonOfTheirMark) {
  for (const Site& site : AllSites()) EXPECT_FALSE(site.reason.empty()) << site.name;
}

}  // namespace
}  // namespace holdfast::fault
