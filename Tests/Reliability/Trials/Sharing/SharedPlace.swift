/// A share of an epoch, and the zone that it is in.
struct SharedPlace: Hashable, Comparable {
  enum Kind: String, CaseIterable {
    /// A zone of which the owner changes the participants.
    case zone = "Team"
    /// A record hierarchy of which the owner changes the participants.
    case hierarchy = "Tree"
    /// A zone whose share the owner ends and begins again.
    case ending = "Fair"
  }

  let kind: Kind
  let epoch: Int

  static func all(_ epoch: Int) -> [SharedPlace] {
    Kind.allCases.map { SharedPlace(kind: $0, epoch: epoch) }
  }

  /// Also the name of the place in a history.
  var zone: String { "\(kind.rawValue)\(epoch)" }
  /// A record that is there from the beginning; the root of the hierarchy.
  var anchor: String { "anchor-\(zone)" }
  var shareName: String { kind == .hierarchy ? "share-\(zone)" : "cloudkit.zoneshare" }
  /// The parent of new shared records.
  var parent: String? { kind == .hierarchy ? anchor : nil }

  /// Records in the zone of a hierarchy that begin so are not below the root.
  static let unshared = "alone-"

  static func type(_ epoch: Int) -> String { "Shared\(epoch)" }
  static func prefix(_ epoch: Int) -> String { "s\(epoch)-" }

  static func < (one: SharedPlace, other: SharedPlace) -> Bool { one.zone < other.zone }
}
