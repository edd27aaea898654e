// The references to user objects that a graph holds, in the order in which it came to hold them (fact U16).
#ifndef HOLDFAST_FAULT_MODEL_REFERENCES_H_
#define HOLDFAST_FAULT_MODEL_REFERENCES_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fault/model/user_object.h"

namespace holdfast::fault::model {

// Bookkeeping alone: it changes no count of an object by itself, and its destructor drops nothing.
// Thread safety: none; a graph's user sees to it.
class ReferenceList {
 public:
  void Add(const Reference& reference);

  // Takes `reference.count` off what the list holds of that object, below zero too: the real driver keeps such a
  // record, and gives the missing references back to the object when the graph goes.
  void Remove(const Reference& reference);

  // Moves all that is held to the end of `references` and leaves the list empty.
  void MoveTo(std::vector<Reference>* references);

  // Appends a copy of each reference; the caller has to UserObject::Add them.
  void CopyTo(std::vector<Reference>* references) const;

 private:
  Reference* Find(const Reference& reference);
  void DropEntry(const Reference& entry);
  void Compact();

  // An entry with count 0 is a gap that Compact closes.
  std::vector<Reference> entries_;
  std::size_t gaps_ = 0;
  // Position of each object's entry; empty until the list is long enough to need it.
  std::unordered_map<const UserObject*, std::uint32_t> index_;
};

// References that several owners share: an executable and each of its launches in flight. They are dropped by the
// thread that lets go last, which is how a destroy during a launch is deferred (facts U4 and U7).
class HeldReferences {
 public:
  // Adds the references to the objects' counts.
  explicit HeldReferences(std::vector<Reference> references);
  ~HeldReferences();
  HeldReferences(const HeldReferences&) = delete;
  HeldReferences& operator=(const HeldReferences&) = delete;

 private:
  const std::vector<Reference> references_;
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_REFERENCES_H_
