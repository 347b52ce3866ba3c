/// What one caller may do with the records of a type.
///
/// Who may change a record may read it as well: changing it answers with all of it.
public struct RecordAccess: Sendable, Hashable {
  /// Which records of the type a caller may read.
  public enum Reach: Sendable, Hashable {
    case all
    /// Those that the caller made.
    case own
    case none
  }

  /// The caller's user record name; nil for an anonymous one.
  public var userRecordName: String?
  /// What the caller's roles permit for every record of the type.
  public var permissions: RecordPermissions
  /// What is permitted for records that the caller made, besides.
  public var ownPermissions: RecordPermissions

  /// The access to what nobody else may see: everything.
  public static let full = RecordAccess(
    userRecordName: nil, permissions: .all, ownPermissions: .all)

  private init(
    userRecordName: String?, permissions: RecordPermissions, ownPermissions: RecordPermissions
  ) {
    self.userRecordName = userRecordName
    self.permissions = permissions
    self.ownPermissions = ownPermissions
  }

  /// - Parameter roles: the caller's, without `_creator`.
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

  /// Which records may be read.
  public var reach: Reach {
    if permissions.contains(.read) { return .all }
    return ownPermissions.contains(.read) ? .own : .none
  }

  /// For what looks at many records; others take ``refusal(ofReading:)``, which says why.
  public func mayRead(_ record: Record) -> Bool { permissions(for: record).contains(.read) }

  /// Why the caller may not read a record; nil where permitted.
  public func refusal(ofReading record: Record) -> AccessRefusal? {
    mayRead(record) ? nil : AccessRefusal(.read, recordType: record.recordType)
  }

  /// Why the caller may read no record of the type; nil where some may be readable.
  public func refusal(ofQuerying recordType: String) -> AccessRefusal? {
    reach == .none ? AccessRefusal(.query, recordType: recordType) : nil
  }

  /// Why the caller may not change or delete a record; nil where permitted.
  public func refusal(ofWriting record: Record) -> AccessRefusal? {
    permissions(for: record).contains(.write)
      ? nil : AccessRefusal(.write, recordType: record.recordType)
  }

  /// Why the caller may not create a record of the type; nil where permitted. A record that does not
  /// exist yet has no creator.
  public func refusal(ofCreating recordType: String) -> AccessRefusal? {
    permissions.contains(.create) ? nil : AccessRefusal(.create, recordType: recordType)
  }

  private func permissions(for record: Record) -> RecordPermissions {
    guard let userRecordName, record.created?.userRecordName == userRecordName else {
      return permissions
    }
    return permissions.union(ownPermissions)
  }
}

extension RecordGrants {
  /// Whether somebody who is signed in may read the records that they made, and without another role no
  /// others.
  public var limitsReadersToOwn: Bool {
    RecordAccess(of: "", roles: [SystemRole.world, SystemRole.icloud], under: self).reach == .own
  }

  /// Whether somebody who is signed in may be permitted what everyone is not.
  public func signedInMayGain(_ permission: RecordPermissions) -> Bool {
    permissions.contains { role, granted in
      role != SystemRole.world && (granted.contains(permission) || granted.contains(.write))
    }
  }
}
