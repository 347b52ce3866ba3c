/// The choices that a system's sharing interface offers to the user.
///
/// Linux has no such interface, so Petrel never reads the values. The class exists for code that
/// also runs on Apple's systems.
open class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  private let settings: Locked<Settings>

  /// The values of the options.
  private struct Settings {
    var permissions: CKSharingParticipantPermissionOption
    var access: CKSharingParticipantAccessOption
    var allowsInviting = false
    var allowsRequests = false
  }

  /// Makes options with these permissions and kinds of access.
  public init(
    allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
    allowedParticipantAccessOptions: CKSharingParticipantAccessOption
  ) {
    settings = Locked(
      Settings(
        permissions: allowedParticipantPermissionOptions, access: allowedParticipantAccessOptions))
  }

  private init(_ settings: Settings) {
    self.settings = Locked(settings)
  }

  /// New options that offer all permissions and all kinds of access.
  open class var standard: CKAllowedSharingOptions {
    CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
  }

  /// The permissions that the user can give to participants.
  open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
    get { settings.withLock { $0.permissions } }
    set { settings.withLock { $0.permissions = newValue } }
  }

  /// The kinds of access to the share that the user can choose.
  open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
    get { settings.withLock { $0.access } }
    set { settings.withLock { $0.access = newValue } }
  }

  /// Whether the user can choose that participants may invite others; false unless set.
  open var allowsParticipantsToInviteOthers: Bool {
    get { settings.withLock { $0.allowsInviting } }
    set { settings.withLock { $0.allowsInviting = newValue } }
  }

  /// Whether the user can choose ``CKShare/allowsAccessRequests`` of the share; false unless set.
  open var allowsAccessRequests: Bool {
    get { settings.withLock { $0.allowsRequests } }
    set { settings.withLock { $0.allowsRequests = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes options from an archive. Keys that are missing give the values of ``standard``.
  public required init?(coder: NSCoder) {
    func bits(_ key: String, default standard: UInt) -> UInt {
      guard coder.containsValue(forKey: key) else { return standard }
      return UInt(clamping: coder.decodeInteger(forKey: key))
    }
    settings = Locked(
      Settings(
        permissions: .init(
          rawValue: bits(
            "allowedParticipantPermissionOptions",
            default: CKSharingParticipantPermissionOption.any.rawValue)),
        access: .init(
          rawValue: bits(
            "allowedParticipantAccessOptions",
            default: CKSharingParticipantAccessOption.any.rawValue)),
        allowsInviting: coder.decodeBool(forKey: "allowsParticipantsToInviteOthers"),
        allowsRequests: coder.decodeBool(forKey: "allowsAccessRequests")))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    let settings = settings.withLock { $0 }
    coder.encode(
      Int(clamping: settings.permissions.rawValue), forKey: "allowedParticipantPermissionOptions")
    coder.encode(
      Int(clamping: settings.access.rawValue), forKey: "allowedParticipantAccessOptions")
    coder.encode(settings.allowsInviting, forKey: "allowsParticipantsToInviteOthers")
    coder.encode(settings.allowsRequests, forKey: "allowsAccessRequests")
  }

  /// Returns separate options with the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKAllowedSharingOptions(settings.withLock { $0 })
  }
}

/// The permissions that a user can give to participants. The raw values are those of Apple's
/// framework.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable, BitwiseCopyable {
  /// The bits of the options in the set.
  public let rawValue: UInt

  /// Makes a set from the bits of its options.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The user can let participants read.
  public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1 << 0)
  /// The user can let participants read and write.
  public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 1 << 1)
  /// The user can choose either permission.
  public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}

/// The kinds of access to a share that a user can choose. The raw values are those of Apple's
/// framework.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable, BitwiseCopyable {
  /// The bits of the options in the set.
  public let rawValue: UInt

  /// Makes a set from the bits of its options.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The user can admit everyone who has the URL of the share.
  public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1 << 0)
  /// The user can admit invited participants only.
  public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 1 << 1)
  /// The user can choose either kind of access.
  public static let any: CKSharingParticipantAccessOption = [
    .anyoneWithLink, .specifiedRecipientsOnly,
  ]
}
