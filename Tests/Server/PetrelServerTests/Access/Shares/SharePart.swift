import CloudKitModel

/// A caller's part in a share: a column of the table of shares in docs/reference/access-table.md.
enum SharePart: String, CaseIterable, Sendable {
  case owner, administrator
  case writer = "may write"
  case reader = "may read"
  case publicWriter = "public, may write"
  case publicReader = "public, may read"
  /// A user who has the link of a public share, and has not joined it.
  case notJoined = "public, not joined"
  /// A participant who has accepted, and whose permission is `NONE`.
  case none = "may nothing"
  case invited, removed
  /// A user who has joined by a public permission, and was blocked.
  case blocked = "public, blocked"
  case stranger

  /// The role and the permission of a participant who has accepted; nil for all others.
  var membership: (role: ShareRole, permission: SharePermission)? {
    switch self {
    case .owner: (.owner, .readWrite)
    case .administrator: (.administrator, .readWrite)
    case .writer: (.privateUser, .readWrite)
    case .reader: (.privateUser, .readOnly)
    case .publicWriter: (.publicUser, .readWrite)
    case .publicReader: (.publicUser, .readOnly)
    case .none: (.privateUser, .none)
    case .notJoined, .invited, .removed, .blocked, .stranger: nil
    }
  }

  /// The type and the permission with which the caller is invited; nil if the caller is not.
  var invitation: (type: String, permission: String)? {
    switch self {
    case .administrator: ("ADMINISTRATOR", "READ_WRITE")
    case .writer, .invited, .removed: ("USER", "READ_WRITE")
    case .reader, .none: ("USER", "READ_ONLY")
    case .owner, .publicWriter, .publicReader, .notJoined, .blocked, .stranger: nil
    }
  }

  /// The public permission of the share; nil if it has none.
  var publicPermission: String? {
    switch self {
    case .publicWriter, .notJoined, .blocked: "READ_WRITE"
    case .publicReader: "READ_ONLY"
    case .owner, .administrator, .writer, .reader, .none, .invited, .removed, .stranger: nil
    }
  }

  /// Whether the caller has accepted the share at some time.
  var hasAccepted: Bool {
    switch self {
    case .administrator, .writer, .reader, .publicWriter, .publicReader, .none, .removed, .blocked:
      true
    case .owner, .notJoined, .invited, .stranger: false
    }
  }
}

/// The reach of a share.
enum ShareKind: String, CaseIterable, Sendable {
  case hierarchy, zone

  /// The name of the share's record.
  var shareName: String { self == .zone ? "cloudkit.zoneshare" : "s" }
}
