/// The permissions of one caller for the records of one type.
///
/// A permission to write implies the permission to read: the answer to a write contains the whole
/// record.
///
/// For records that the caller created, the caller also has the permissions of the role `_creator`.
public struct RecordAccess: Sendable, Hashable {
  /// The part of a type's records that a caller may read.
  public enum Reach: Sendable, Hashable {
    /// All records of the type.
    case all
    /// The records that the caller created.
    case own
    /// No record of the type.
    case none
  }

  /// The caller's user record name; nil for an anonymous caller, who is the creator of no record.
  public var userRecordName: String?
  /// The permissions that the caller's roles give for every record of the type.
  public var permissions: RecordPermissions
  /// The additional permissions for records that the caller created.
  public var ownPermissions: RecordPermissions

  /// The access to all records. The administrator has this access in every database, and a user has
  /// this access in the user's own private and shared databases.
  public static let full = RecordAccess(
    userRecordName: nil, permissions: .all, ownPermissions: .all)

  private init(
    userRecordName: String?, permissions: RecordPermissions, ownPermissions: RecordPermissions
  ) {
    self.userRecordName = userRecordName
    self.permissions = permissions
    self.ownPermissions = ownPermissions
  }

  /// Combines the permissions of the caller's roles.
  ///
  /// - Parameter userRecordName: The caller's user record name; nil for an anonymous caller, who
  ///   gets no permissions as a creator.
  init(of userRecordName: String?, roles: Set<String>, under grants: RecordGrants) {
    func readable(_ permissions: RecordPermissions) -> RecordPermissions {
      permissions.contains(.write) ? permissions.union(.read) : permissions
    }
    self.userRecordName = userRecordName
    permissions = readable(grants.permissions(of: roles))
    ownPermissions =
      userRecordName == nil
      ? [] : readable(grants.permissions(of: [RecordGrants.SystemRole.creator]))
  }

  /// The part of the type's records that the caller may read.
  public var reach: Reach {
    if permissions.contains(.read) { return .all }
    return ownPermissions.contains(.read) ? .own : .none
  }

  /// Returns whether the caller may read the record. Use this method for scans of many records;
  /// ``refusal(ofReading:)`` returns the reason as well.
  public func mayRead(_ record: Record) -> Bool { permissions(for: record).contains(.read) }

  /// Returns the reason why the caller may not read a record; nil when the caller may read it.
  public func refusal(ofReading record: Record) -> AccessRefusal? {
    mayRead(record) ? nil : AccessRefusal(.read, recordType: record.recordType)
  }

  /// Returns the reason why the caller may read no record of the type; nil when the caller may read
  /// all records of the type, or those that the caller created.
  public func refusal(ofQuerying recordType: String) -> AccessRefusal? {
    reach == .none ? AccessRefusal(.query, recordType: recordType) : nil
  }

  /// Returns the reason why the caller may not change or delete a record; nil when the caller may.
  public func refusal(ofWriting record: Record) -> AccessRefusal? {
    permissions(for: record).contains(.write)
      ? nil : AccessRefusal(.write, recordType: record.recordType)
  }

  /// Returns the reason why the caller may not create a record of the type; nil when the caller
  /// may.
  ///
  /// A record that does not exist yet has no creator, so a grant of CREATE to `_creator` gives
  /// nobody the permission.
  public func refusal(ofCreating recordType: String) -> AccessRefusal? {
    permissions.contains(.create) ? nil : AccessRefusal(.create, recordType: recordType)
  }

  /// Returns the caller's permissions for one record, with those of the role `_creator` if the
  /// caller created the record.
  private func permissions(for record: Record) -> RecordPermissions {
    guard let userRecordName, record.created?.userRecordName == userRecordName else {
      return permissions
    }
    return permissions.union(ownPermissions)
  }
}

extension RecordGrants {
  /// Whether a signed-in user who has only the roles `_world` and `_icloud` may read only the
  /// records that the user created.
  public var limitsReadersToOwn: Bool {
    RecordAccess(of: "", roles: [SystemRole.world, SystemRole.icloud], under: self).reach == .own
  }

  /// Returns whether a role other than `_world` grants the permission. A role with WRITE counts as
  /// a role with every permission.
  ///
  /// The server calls this method when it refuses an anonymous caller. If the result is true, the
  /// server answers that the caller must sign in.
  public func signedInMayGain(_ permission: RecordPermissions) -> Bool {
    permissions.contains { role, granted in
      role != SystemRole.world && (granted.contains(permission) || granted.contains(.write))
    }
  }
}
