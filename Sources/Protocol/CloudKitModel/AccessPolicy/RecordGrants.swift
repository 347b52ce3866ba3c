/// What a role may do with the records of a type.
public struct RecordPermissions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let read = RecordPermissions(rawValue: 1)
  public static let create = RecordPermissions(rawValue: 2)
  /// To change and to delete.
  public static let write = RecordPermissions(rawValue: 4)

  public static let all: RecordPermissions = [.read, .create, .write]
}

/// Who may do what with the records of a type in the public database.
public struct RecordGrants: Sendable, Hashable {
  /// The roles that every container has.
  public enum SystemRole {
    /// Whoever made the record.
    public static let creator = "_creator"
    /// Every signed-in user.
    public static let icloud = "_icloud"
    /// Everyone.
    public static let world = "_world"

    public static let all: Set<String> = [creator, icloud, world]
  }

  /// By role; roles that may do nothing are absent.
  public private(set) var permissions: [String: RecordPermissions]

  public init(_ permissions: [String: RecordPermissions] = [:]) {
    self.permissions = permissions.filter { !$0.value.isEmpty }
  }

  /// The grants of a type that names none: the creator writes, signed-in users create, everyone
  /// reads.
  public static let standard = RecordGrants([
    SystemRole.creator: .write, SystemRole.icloud: .create, SystemRole.world: .read,
  ])

  /// Adds to what a role may do.
  public mutating func grant(_ granted: RecordPermissions, to role: String) {
    guard !granted.isEmpty else { return }
    permissions[role, default: []].formUnion(granted)
  }

  /// What somebody with all of these roles may do.
  public func permissions(of roles: some Sequence<String>) -> RecordPermissions {
    roles.reduce(into: []) { $0.formUnion(permissions[$1] ?? []) }
  }
}
