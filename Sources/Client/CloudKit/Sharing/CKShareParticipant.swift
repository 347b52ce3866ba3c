internal import CloudKitModel

/// A user who takes part in a share: `CKShare.Participant`.
///
/// ``CKFetchShareParticipantsOperation`` and methods of `CKContainer` make participants. Add one
/// with ``CKShare/addParticipant(_:)`` and save the share. A new participant is a private user who
/// can read and who has not accepted yet.
///
/// Two participants are equal if they have the same user record ID. Without one they are equal by
/// lookup info, and without both by ``participantID``.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The identity of the user.
  open var userIdentity: CKUserIdentity { storedUserIdentity }
  /// The answer of the user to the invitation; `.pending` for a new participant.
  open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { storedAcceptanceStatus }
  /// The ID of the participant, unique in the share.
  open var participantID: CKShare.Participant.ID { storedParticipantID }

  private let storedUserIdentity: CKUserIdentity
  private let storedAcceptanceStatus: CKShare.ParticipantAcceptanceStatus
  private let storedParticipantID: CKShare.Participant.ID
  /// The properties that the program can change; the lock protects them.
  private let settings: Locked<Settings>
  /// The URL with which the user joins, if the participant is one of ``oneTimeURLParticipant()``.
  let oneTimeURL: URL?

  /// The properties of a participant that the program can change.
  private struct Settings {
    var role: CKShare.ParticipantRole
    var permission: CKShare.ParticipantPermission
  }

  /// Makes a participant from its parts.
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

  /// Makes a participant without an identity: the first user who opens its URL.
  ///
  /// The saved share has the URL: see ``CKShare/oneTimeURL(for:)``.
  open class func oneTimeURLParticipant() -> CKShare.Participant {
    CKShareParticipant(userIdentity: CKUserIdentity(UserIdentity()))
  }

  /// The role of the participant; `.privateUser` for a new one.
  open var role: CKShare.ParticipantRole {
    get { settings.withLock { $0.role } }
    set { settings.withLock { $0.role = newValue } }
  }

  /// The role of the participant, as the former type of roles.
  @available(*, deprecated, renamed: "role")
  open var type: CKShare.ParticipantType {
    get { CKShare.ParticipantType(role) }
    set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
  }

  /// The rights of the participant to the shared records; `.readOnly` for a new one.
  open var permission: CKShare.ParticipantPermission {
    get { settings.withLock { $0.permission } }
    set { settings.withLock { $0.permission = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a participant from an archive. Returns nil, and makes the decoder fail, if a part is
  /// missing.
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

  /// Returns a separate participant with the same properties.
  open func copy(with zone: NSZone? = nil) -> Any { copied }

  /// A separate participant with the same properties.
  var copied: CKShareParticipant {
    CKShareParticipant(
      userIdentity: userIdentity, role: role, permission: permission,
      acceptanceStatus: acceptanceStatus, participantID: participantID, oneTimeURL: oneTimeURL)
  }

  /// The value by which two participants are compared.
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
  /// Makes the former type of a role. Administrators had none, so they become `.unknown`.
  fileprivate init(_ role: CKShare.ParticipantRole) {
    self = Self(rawValue: role.rawValue) ?? .unknown
  }
}
