internal import CloudKitModel

/// A user who takes part in a share: `CKShare.Participant`.
///
/// ``CKFetchShareParticipantsOperation`` and methods of `CKContainer` make participants. Add one
/// with ``CKShare/addParticipant(_:)`` and save the share. A new participant is a private user who
/// can read and who has not accepted yet.
///
/// Two participants are equal if they have the same ``participantID``, the same user record ID or the
/// same lookup info.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The identity of the user.
  open var userIdentity: CKUserIdentity { storedUserIdentity }
  /// The answer of the user to the invitation; `.pending` for a new participant.
  open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { storedAcceptanceStatus }
  /// The ID of the participant, unique in the share.
  open var participantID: CKShare.Participant.ID { storedParticipantID }
  /// Whether the participant had requested access to the share before being added.
  open var isApprovedRequester: Bool { storedIsApprovedRequester }
  /// The date of the save that added the participant, by the server's clock; nil before that save.
  open var dateAddedToShare: Date? { storedDateAddedToShare }

  private let storedUserIdentity: CKUserIdentity
  private let storedAcceptanceStatus: CKShare.ParticipantAcceptanceStatus
  private let storedParticipantID: CKShare.Participant.ID
  private let storedIsApprovedRequester: Bool
  private let storedDateAddedToShare: Date?
  private let settings: Locked<Settings>
  /// Whether the participant is one of ``oneTimeURLParticipant()``. A save asks the server for its
  /// URL.
  let joinsByOneTimeURL: Bool
  /// The URL with which the user joins, if the participant is one of ``oneTimeURLParticipant()``.
  let oneTimeURL: URL?

  /// The properties of a participant that the program can change.
  private struct Settings {
    var role: CKShare.ParticipantRole
    var permission: CKShare.ParticipantPermission
    var isCurrentUser = false
  }

  init(
    userIdentity: CKUserIdentity, role: CKShare.ParticipantRole = .privateUser,
    permission: CKShare.ParticipantPermission = .readOnly,
    acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending,
    participantID: String = UUID().uuidString, isApprovedRequester: Bool = false,
    dateAddedToShare: Date? = nil, joinsByOneTimeURL: Bool = false, oneTimeURL: URL? = nil
  ) {
    storedUserIdentity = userIdentity
    storedAcceptanceStatus = acceptanceStatus
    storedParticipantID = participantID
    storedIsApprovedRequester = isApprovedRequester
    storedDateAddedToShare = dateAddedToShare
    self.joinsByOneTimeURL = joinsByOneTimeURL
    self.oneTimeURL = oneTimeURL
    settings = Locked(Settings(role: role, permission: permission))
  }

  /// Makes a participant without an identity: the first user who opens its URL.
  ///
  /// The saved share has the URL: see ``CKShare/oneTimeURL(for:)``.
  ///
  /// - Precondition: The method is not called on a subclass. Otherwise the program stops, because a
  ///   subclass of the program has no initializer for it.
  open class func oneTimeURLParticipant() -> Self {
    let participant = CKShareParticipant(
      userIdentity: CKUserIdentity(UserIdentity()), joinsByOneTimeURL: true)
    guard let participant = participant as? Self else {
      stopForInvalidArgument("CKShare.Participant: \(self) cannot make a one-time participant")
    }
    return participant
  }

  /// The role of the participant; `.privateUser` for a new one.
  open var role: CKShare.ParticipantRole {
    get { settings.withLock { $0.role } }
    set { settings.withLock { $0.role = newValue } }
  }

  /// The role of the participant, as the former type of roles.
  @available(*, deprecated, renamed: "role")
  open var type: CKShare.ParticipantType {
    get { CKShare.ParticipantType(number: role.rawValue) }
    set { role = CKShare.ParticipantRole(number: newValue.rawValue) }
  }

  /// The rights of the participant to the shared records; `.readOnly` for a new one.
  open var permission: CKShare.ParticipantPermission {
    get { settings.withLock { $0.permission } }
    set { settings.withLock { $0.permission = newValue } }
  }

  /// Whether the participant is the current user. Only the archive of a share sets it.
  var isCurrentUser: Bool {
    get { settings.withLock { $0.isCurrentUser } }
    set { settings.withLock { $0.isCurrentUser = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a participant from an archive. Returns nil, and makes the decoder fail, if a part is
  /// missing.
  public required init?(coder: NSCoder) {
    guard
      let userIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "UserIdentity"),
      let participantID = coder.decodeOptionalString(forKey: "ParticipantID")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedUserIdentity = userIdentity
    storedParticipantID = participantID
    storedAcceptanceStatus = .init(number: coder.decodeInteger(forKey: "AcceptanceStatus"))
    storedIsApprovedRequester = coder.decodeBool(forKey: "isApprovedRequester")
    storedDateAddedToShare =
      coder.decodeOptional(NSDate.self, forKey: "dateAddedToShare").map { $0 as Date }
    oneTimeURL = coder.decodeOptionalString(forKey: "oneTimeURL").flatMap { URL(string: $0) }
    joinsByOneTimeURL = coder.decodeBool(forKey: "joinsByOneTimeURL")
    settings = Locked(
      Settings(
        role: .init(number: coder.decodeInteger(forKey: "Type")),
        permission: .init(number: coder.decodeInteger(forKey: "Permission")),
        isCurrentUser: coder.decodeBool(forKey: "IsCurrentUser")))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userIdentity, forKey: "UserIdentity")
    coder.encodeOptional(participantID, forKey: "ParticipantID")
    coder.encode(acceptanceStatus.rawValue, forKey: "AcceptanceStatus")
    coder.encode(role.rawValue, forKey: "Type")
    coder.encode(permission.rawValue, forKey: "Permission")
    coder.encode(isCurrentUser, forKey: "IsCurrentUser")
    coder.encode(isApprovedRequester, forKey: "isApprovedRequester")
    coder.encode(dateAddedToShare.map { $0 as NSDate }, forKey: "dateAddedToShare")
    coder.encode(joinsByOneTimeURL, forKey: "joinsByOneTimeURL")
    coder.encodeOptional(oneTimeURL?.absoluteString, forKey: "oneTimeURL")
  }

  /// Returns a separate participant with the same properties.
  open func copy(with zone: NSZone? = nil) -> Any { copied }

  var copied: CKShareParticipant {
    CKShareParticipant(
      userIdentity: userIdentity, role: role, permission: permission,
      acceptanceStatus: acceptanceStatus, participantID: participantID,
      isApprovedRequester: isApprovedRequester, dateAddedToShare: dateAddedToShare,
      joinsByOneTimeURL: joinsByOneTimeURL, oneTimeURL: oneTimeURL)
  }

  /// Whether the participant IDs, the user record IDs or the lookup infos agree.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareParticipant else { return false }
    return participantID == other.participantID || userIdentity.isSamePerson(as: other.userIdentity)
  }

  /// The same value for all participants. Equal participants need not have one property in common
  /// that all others lack, so no property can be hashed.
  open override var hash: Int { 0 }

  open override var description: String {
    "<CKShareParticipant: \(userIdentity), \(role), \(permission), \(acceptanceStatus)>"
  }
}
