// Loading and printing a plan as a library does it; the plans of data/ are plan_schema_test.py's business.

#include "fault/plan/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "fault/plan/check.h"
#include "fault/plan/document.h"
#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

Plan Loaded(const std::string& rule) { return LoadPlanText(R"({"version": 1, "rules": [)" + rule + "]}"); }

// The sentence with which the rules are refused, and the place alone.
std::string Refusal(const std::string& rules) {
  try {
    Loaded(rules);
  } catch (const PlanError& error) {
    return error.what();
  }
  return "accepted";
}

std::string PlaceOfRefusal(const std::string& rules) {
  const std::string refusal = Refusal(rules);
  return refusal.substr(0, refusal.find(": "));
}

std::string RefusalOfFile(const std::string& path) {
  try {
    LoadPlanFile(path);
  } catch (const PlanError& error) {
    return error.what();
  }
  return "accepted";
}

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
      NormalisedPlan(Loaded(R"({"site": "alloc", "when": {"step": "a\"b\\c\u00e4"}, "do": {"fail": true}})"));
  EXPECT_NE(text.find(R"("step":"a\"b\\cä")"), std::string::npos) << text;
  EXPECT_EQ(NormalisedPlan(LoadPlanText(text)), text);
  EXPECT_EQ(JsonString("\n"), R"("\u000a")");
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
  EXPECT_EQ(RefusalOfFile("/dev/zero").substr(0, 21), "is a pipe or a device");
  EXPECT_EQ(RefusalOfFile("/dev/null").substr(0, 21), "is a pipe or a device");
}

TEST(Load, RefusesANamedPipeWithoutWaitingForAWriter) {
  const std::string path = testing::TempDir() + "plan_pipe." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(RefusalOfFile(path).substr(0, 21), "is a pipe or a device");
  unlink(path.c_str());
}

TEST(Load, ReadsThePipeThatIsTheStandardInput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDIN_FILENO);
  ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  std::thread writer([&] {
    // In two parts: the first alone is no plan.
    dprintf(ends[1], R"({"version": 1, "seed")");
    std::this_thread::yield();
    dprintf(ends[1], R"(: "7", "rules": []})");
    close(ends[1]);
  });
  EXPECT_EQ(LoadPlanFile("/dev/stdin").seed, 7U);
  writer.join();
  dup2(before, STDIN_FILENO);
  close(before);
  close(ends[0]);
}

TEST(Load, RefusesRulesThatWaitInACircle) {
  const auto launch = [](int nth, const std::string& action) {
    return R"({"site": "cuGraphLaunch", "when": {"nth": )" + std::to_string(nth) + R"(}, "do": )" + action + "}";
  };
  const auto waiting = [&](int nth, int rule) {
    return launch(nth, R"({"hold": {"rule": )" + std::to_string(rule) + "}}");
  };
  EXPECT_EQ(PlaceOfRefusal(waiting(1, 0)), "/rules/0/do/hold/rule");
  EXPECT_EQ(PlaceOfRefusal(waiting(1, 1) + "," + waiting(2, 0)), "/rules/0/do/hold/rule");
  EXPECT_EQ(PlaceOfRefusal(waiting(1, 1) + "," + waiting(2, 2) + "," + waiting(3, 3) + "," + waiting(4, 1)),
            "/rules/1/do/hold/rule");
  EXPECT_EQ(PlaceOfRefusal(waiting(1, 1) + "," + waiting(2, 2) + "," + launch(3, R"({"delay": "1us"})")), "accepted");
}

TEST(Load, RefusesStepsWithControlCharacters) {
  const auto step = [](const std::string& name) {
    return R"({"site": "alloc", "when": {"step": ")" + name + R"("}, "do": {"fail": true}})";
  };
  for (const std::string name : {R"(\u0000)", R"(a\nb)", R"(a\u001b[1m)", R"(\u007f)"}) {
    EXPECT_EQ(PlaceOfRefusal(step(name)), "/rules/0/when/step") << name;
  }
  EXPECT_EQ(PlaceOfRefusal(R"({"site": "alloc", "do": {"hold": {"step": "a\tb"}}})"), "/rules/0/do/hold/step");
  EXPECT_EQ(PlaceOfRefusal(step("step two, \\u00e4")), "accepted");
}

TEST(Load, SaysThatANumberIsTooLarge) {
  for (const std::string number : {"9007199254740993", "99999999999999999999"}) {
    EXPECT_EQ(Refusal(R"({"site": "alloc", "when": {"nth": )" + number + R"(}, "do": {"fail": true}})"),
              "/rules/0/when/nth: the number is too large; the most is 9007199254740992");
  }
  EXPECT_EQ(Refusal(R"({"site": "alloc", "when": {"nth": -99999999999999999999}, "do": {"fail": true}})"),
            "/rules/0/when/nth: must lie between 1 and 9007199254740992");
}

TEST(Load, SaysWhatADriverCallReturns) {
  EXPECT_EQ(Refusal(R"({"site": "cuInit", "do": {"return": 1}})"),
            "/rules/0/do/return: must be the name of a CUresult, such as CUDA_ERROR_UNKNOWN, not an integer");
}

TEST(Load, RefusesMoreRulesThanItComparesInAMoment) {
  std::string rules;
  for (std::size_t nth = 1; nth <= kMostRules; ++nth) {
    rules += R"({"site":"alloc","when":{"nth":)" + std::to_string(nth) + R"(},"do":{"fail":true}},)";
  }
  EXPECT_EQ(PlaceOfRefusal(rules.substr(0, rules.size() - 1)), "accepted");
  EXPECT_EQ(PlaceOfRefusal(rules + R"({"site":"cuInit","do":{"delay":"1us"}})"), "/rules/10000");
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

TEST(Load, TellsTheTwoWaysToCountApart) {
  const std::string action = R"("do": {"return": "CUDA_ERROR_UNKNOWN"}})";
  const auto pair = [&](const std::string& first, const std::string& second) {
    const std::string start = R"({"site": "cuInit", "when": {"step": "s", )";
    return start + first + "}, " + action + ", " + start + second + "}, " + action;
  };
  const std::string third = R"("nth": 3)", third_in_step = R"("nth": 3, "count": "step")";
  EXPECT_NO_THROW(Loaded(pair(third, third_in_step)));
  EXPECT_NO_THROW(Loaded(pair(third_in_step, third)));
  EXPECT_THROW(Loaded(pair(third_in_step, third_in_step)), PlanError);
  EXPECT_THROW(Loaded(R"({"site": "cuInit", "when": {"step": "s"}, )" + action + ", " +
                      R"({"site": "cuInit", "when": {"step": "s", "nth": 3, "count": "step"}, )" + action),
               PlanError);
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
