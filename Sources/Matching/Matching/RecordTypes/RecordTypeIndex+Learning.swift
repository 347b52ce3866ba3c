import CloudKitModel

/// Learning what records have, and filing entries by it.
extension RecordTypeIndex {
  /// Entries whose places are looked at with each change that is learnt from.
  private static let reviewsPerChange = 64
  /// After so many changes what was learnt counts half, so that the index follows what shifts.
  private static let memory: UInt32 = 4_096

  /// Counts the points of a record, and moves some entries that would be found by fewer records
  /// elsewhere.
  mutating func learn(from change: Change, _ scratch: inout MatchScratch) {
    look(at: change, &scratch, forLearning: true)
    scratch.questions.answer(points, &scratch.facts)
    for hit in scratch.facts.hits[..<scratch.facts.hitCount] {
      points[ledgerOf: hit.point].meetings += 1
    }
    for number in bounds.indices { bounds[number].sample.add(scratch.facts.ordered[number + 1]) }
    for number in fields.indices where fields[number].circles > 0 {
      fields[number].places.add(scratch.facts.places[number])
    }
    changesLearnt += 1
    if changesLearnt >= Self.memory { forgetHalf() }
    for _ in 0..<min(Self.reviewsPerChange, entries.count) {
      nextReviewed = entries.slot(from: nextReviewed)
      review(nextReviewed)
      nextReviewed += 1
    }
  }

  private mutating func forgetHalf() {
    changesLearnt /= 2
    points.forgetHalf()
  }
}
