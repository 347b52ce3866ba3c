internal import CloudKitModel

/// One of those who share: `CKShare.Participant`.
///
/// Participants come from `CKFetchShareParticipantsOperation` or the methods of `CKContainer` that
/// fetch share participants; put one in a share with `CKShare.addParticipant(_:)` and save the
/// share. Two participants are equal when they are the same person.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// Who it is.
  open var userIdentity: CKUserIdentity { storedUserIdentity }
  open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { storedAcceptanceStatus }
  /// Unique in the share.
  open var participantID: CKShare.Participant.ID { storedParticipantID }

  private let storedUserIdentity: CKUserIdentity
  private let storedAcceptanceStatus: CKShare.ParticipantAcceptanceStatus
  private let storedParticipantID: CKShare.Participant.ID
  private let settings: Locked<Settings>
  /// Where the person becomes a participant without being known before.
  let oneTimeURL: URL?

  private struct Settings {
    var role: CKShare.ParticipantRole
    var permission: CKShare.ParticipantPermission
  }

  init(
    userIdentity: CKUserIdentity, role: CKShare.ParticipantRole = .privateUser,
    permission: CKShare.ParticipantPermission = .readOnly,
    acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending,
    participantID: String = UUID().uuidString, oneTimeURL: URL? = nil
  ) {
    storedUserIdentity = userIdentity
    storedAcceptanceStatus = acceptanceStatus
    storedParticipantID = participantID
    self.oneTimeURL = oneTimeURL
    settings = Locked(Settings(role: role, permission: permission))
  }

  /// A participant whom nobody knows yet: whoever first uses the URL that the saved share gives for
  /// it, ``CKShare/oneTimeURL(for:)``.
  open class func oneTimeURLParticipant() -> CKShare.Participant {
    CKShareParticipant(userIdentity: CKUserIdentity(UserIdentity()))
  }

  /// What the participant is to the share. New participants are private users.
  open var role: CKShare.ParticipantRole {
    get { settings.withLock { $0.role } }
    set { settings.withLock { $0.role = newValue } }
  }

  @available(*, deprecated, renamed: "role")
  open var type: CKShare.ParticipantType {
    get { CKShare.ParticipantType(role) }
    set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
  }

  /// What the participant may do. New participants may read.
  open var permission: CKShare.ParticipantPermission {
    get { settings.withLock { $0.permission } }
    set { settings.withLock { $0.permission = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard
      let userIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "userIdentity"),
      let participantID = coder.decodeOptionalString(forKey: "participantID")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedUserIdentity = userIdentity
    storedParticipantID = participantID
    storedAcceptanceStatus =
      .init(rawValue: coder.decodeInteger(forKey: "acceptanceStatus")) ?? .unknown
    oneTimeURL = coder.decodeOptionalString(forKey: "oneTimeURL").flatMap { URL(string: $0) }
    settings = Locked(
      Settings(
        role: .init(rawValue: coder.decodeInteger(forKey: "role")) ?? .unknown,
        permission: .init(rawValue: coder.decodeInteger(forKey: "permission")) ?? .unknown))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userIdentity, forKey: "userIdentity")
    coder.encodeOptional(participantID, forKey: "participantID")
    coder.encode(acceptanceStatus.rawValue, forKey: "acceptanceStatus")
    coder.encodeOptional(oneTimeURL?.absoluteString, forKey: "oneTimeURL")
    coder.encode(role.rawValue, forKey: "role")
    coder.encode(permission.rawValue, forKey: "permission")
  }

  open func copy(with zone: NSZone? = nil) -> Any { copied }

  var copied: CKShareParticipant {
    CKShareParticipant(
      userIdentity: userIdentity, role: role, permission: permission,
      acceptanceStatus: acceptanceStatus, participantID: participantID, oneTimeURL: oneTimeURL)
  }

  /// What makes two participants the same person.
  private var person: NSObject { userIdentity.person ?? participantID as NSString }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareParticipant else { return false }
    return person.isEqual(other.person)
  }

  open override var hash: Int { person.hash }

  open override var description: String {
    "<CKShareParticipant: \(userIdentity), \(role), \(permission), \(acceptanceStatus)>"
  }
}

@available(*, deprecated)
extension CKShare.ParticipantType {
  /// The type that stands for a role; administrators had none.
  fileprivate init(_ role: CKShare.ParticipantRole) {
    self = Self(rawValue: role.rawValue) ?? .unknown
  }
}
