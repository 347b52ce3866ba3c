import CloudKitModel

/// Memory that matching uses for one change after the other, so that none is made for each.
///
/// It belongs to whoever matches, one thread at a time, and may be used with any index.
public struct MatchScratch: Sendable {
  /// For each point the number of the last change that had it.
  private var meetings: [UInt32] = []
  private var change: UInt32 = 0
  /// Points of the change: all, or those under which entries are filed.
  private(set) var hits: [UInt32] = []
  private var keepsAll = false
  /// The change's value on each ordered path; nil for none.
  var ordered: [OrderedValue?] = []
  /// The change's place in each field.
  var places: [Location?] = []
  /// Entries that the change may meet again.
  var metAgain: [UInt32] = []
  /// Entries that fire.
  var fired: [UInt32] = []

  public init() {}

  /// Begins with a change.
  mutating func begin(points: Int, ordered: Int, fields: Int, keepsAll: Bool) {
    self.keepsAll = keepsAll
    if meetings.count < points {
      meetings += repeatElement(0, count: points + points / 4 + 16 - meetings.count)
    }
    change &+= 1
    if change == 0 {
      // After four thousand million changes the numbers begin anew.
      meetings = [UInt32](repeating: 0, count: meetings.count)
      change = 1
    }
    hits.removeAll(keepingCapacity: true)
    metAgain.removeAll(keepingCapacity: true)
    fired.removeAll(keepingCapacity: true)
    Self.clear(&self.ordered, count: ordered)
    Self.clear(&places, count: fields)
  }

  private static func clear<Value>(_ values: inout [Value?], count: Int) {
    values.removeAll(keepingCapacity: true)
    values.append(contentsOf: repeatElement(nil, count: count))
  }

  /// Notes that the change has a point.
  @inline(__always)
  mutating func meet(_ point: UInt32, hasCandidates: Bool) {
    guard meetings[Int(point)] != change else { return }
    meetings[Int(point)] = change
    if hasCandidates || keepsAll { hits.append(point) }
  }

  /// Whether the change has a point.
  @inline(__always)
  func has(_ point: UInt64) -> Bool { meetings[Int(point)] == change }
}
