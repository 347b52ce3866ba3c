/// The permissions of a role for the records of a type. The schema language has the permissions
/// `READ`, `CREATE` and `WRITE`.
public struct RecordPermissions: OptionSet, Sendable, Hashable {
  /// The permissions as bits: 1 for read, 2 for create, 4 for write.
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The permission to read and to find records.
  public static let read = RecordPermissions(rawValue: 1)
  /// The permission to save records that do not exist yet.
  public static let create = RecordPermissions(rawValue: 2)
  /// The permission to change and to delete records. ``RecordAccess`` adds the permission to read.
  public static let write = RecordPermissions(rawValue: 4)

  /// All three permissions.
  public static let all: RecordPermissions = [.read, .create, .write]
}

/// The permissions of each role for the records of a type in the public database (`GRANT` in the
/// schema language).
public struct RecordGrants: Sendable, Hashable {
  /// The names of the roles that every container has.
  public enum SystemRole {
    /// The role of the user who created the record.
    public static let creator = "_creator"
    /// The role of every signed-in user.
    public static let icloud = "_icloud"
    /// The role of every caller, also of anonymous callers.
    public static let world = "_world"

    /// The names of all system roles. A role name that begins with `_` must be one of these names.
    public static let all: Set<String> = [creator, icloud, world]
  }

  /// The permissions by the name of the role. Roles without permissions are absent.
  public private(set) var permissions: [String: RecordPermissions]

  /// Creates grants from permissions by role. Roles with no permissions are left out.
  public init(_ permissions: [String: RecordPermissions] = [:]) {
    self.permissions = permissions.filter { !$0.value.isEmpty }
  }

  /// The grants of a type that declares none: the creator writes, signed-in users create, every
  /// caller reads.
  public static let standard = RecordGrants([
    SystemRole.creator: .write, SystemRole.icloud: .create, SystemRole.world: .read,
  ])

  /// Adds permissions to those that a role has. An empty set of permissions changes nothing.
  public mutating func grant(_ granted: RecordPermissions, to role: String) {
    guard !granted.isEmpty else { return }
    permissions[role, default: []].formUnion(granted)
  }

  /// Returns the union of the permissions of these roles. Unknown roles add no permissions.
  public func permissions(of roles: some Sequence<String>) -> RecordPermissions {
    roles.reduce(into: []) { $0.formUnion(permissions[$1] ?? []) }
  }
}
