import CloudKitModel

/// Learning: the index counts the facts of changes and moves entries to cheaper places.
extension RecordTypeIndex {
  /// The number of entries whose places are reviewed with each learned change.
  private static let reviewsPerChange = 64
  /// The number of learned changes at which the counts are halved, so that newer changes weigh
  /// more.
  private static let memory: UInt32 = 4_096

  /// Counts the points of a change, adds its values to the samples, and reviews the places of up to
  /// 64 entries. The entries take turns.
  ///
  /// - Complexity: that of reading the facts of the change, and of up to 64 calls of
  ///   ``review(_:)``. Once in about 2,048 changes, the halving of the counts adds O(*n*) for the
  ///   *n* points of the type.
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
