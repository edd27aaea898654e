#include "fault/model/result_names.h"

namespace holdfast::fault::model {
namespace {

struct ResultWords {
  CUresult result;
  const char* name;
  const char* text;
};

constexpr ResultWords kResults[] = {
#include "fault/model/results.inc"
};

const ResultWords* Find(CUresult result) {
  for (const ResultWords& words : kResults) {
    if (words.result == result) return &words;
  }
  return nullptr;
}

}  // namespace

const char* NameOf(CUresult result) noexcept {
  const ResultWords* words = Find(result);
  return words == nullptr ? nullptr : words->name;
}

const char* TextOf(CUresult result) noexcept {
  const ResultWords* words = Find(result);
  return words == nullptr ? nullptr : words->text;
}

}  // namespace holdfast::fault::model
