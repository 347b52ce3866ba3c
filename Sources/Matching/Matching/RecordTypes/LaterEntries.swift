/// The entries that a change meets and that are stored among the firing ones only after all
/// candidates are checked: those whose programs must run, and those that the change can meet at
/// several places.
struct LaterEntries: Sendable {
  /// The entries whose programs decide.
  private(set) var programs: [UInt32] = []
  /// The entries that fire, and that the change can meet at several places.
  private(set) var fired: [UInt32] = []
  /// Whether the change can meet some of ``programs`` at several places.
  private var repeatsPrograms = false

  mutating func run(_ candidate: Candidate) {
    programs.append(candidate.entry)
    if candidate.isMetAgain { repeatsPrograms = true }
  }

  mutating func fire(_ candidate: Candidate) { fired.append(candidate.entry) }

  /// Leaves each entry once.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries, if one may be repeated.
  mutating func removeDuplicates() {
    if repeatsPrograms { Self.removeDuplicates(from: &programs) }
    if !fired.isEmpty { Self.removeDuplicates(from: &fired) }
  }

  private static func removeDuplicates(from entries: inout [UInt32]) {
    entries.sort()
    var count = 0
    for entry in entries where count == 0 || entries[count - 1] != entry {
      entries[count] = entry
      count += 1
    }
    entries.removeLast(entries.count - count)
  }

  /// Empties the lists for the next change, and keeps their memory.
  mutating func removeAll() {
    programs.removeAll(keepingCapacity: true)
    fired.removeAll(keepingCapacity: true)
    repeatsPrograms = false
  }
}
