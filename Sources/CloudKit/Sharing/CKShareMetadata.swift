internal import CloudKitModel
internal import WebServices

/// What someone who has a share's URL may know of it: `CKShare.Metadata`. Immutable; the framework
/// makes it. Accept the share with it: `CKAcceptSharesOperation`, `CKContainer.accept(_:)`.
///
/// Two are equal when they are of the same share.
open class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The container that the share lies in.
  public let containerIdentifier: String
  public let share: CKShare
  /// The record at the top of what is shared; nil for the share of a zone.
  public let hierarchicalRootRecordID: CKRecord.ID?
  /// What the current user is to the share.
  public let participantRole: CKShare.ParticipantRole
  public let participantStatus: CKShare.ParticipantAcceptanceStatus
  public let participantPermission: CKShare.ParticipantPermission
  public let ownerIdentity: CKUserIdentity
  /// The record at the top of what is shared, when the operation was told to fetch it.
  public let rootRecord: CKRecord?

  @available(*, deprecated, renamed: "hierarchicalRootRecordID")
  open var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

  @available(*, deprecated, renamed: "participantRole")
  open var participantType: CKShare.ParticipantType {
    CKShare.ParticipantType(rawValue: participantRole.rawValue) ?? .unknown
  }

  init?(_ model: SharesResponse.Share) {
    guard let share = CKRecord(model.share) as? CKShare else { return nil }
    containerIdentifier = model.containerIdentifier
    self.share = share
    hierarchicalRootRecordID = model.rootRecordName.map {
      CKRecord.ID(RecordID(recordName: $0, zoneID: model.zoneID))
    }
    participantRole = .init(model.role)
    participantStatus = .init(model.acceptance)
    participantPermission = .init(model.permission)
    ownerIdentity = CKUserIdentity(model.ownerIdentity)
    rootRecord = model.rootRecord.map { CKRecord($0) }
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard
      let containerIdentifier = coder.decodeOptionalString(forKey: "containerIdentifier"),
      let share = coder.decodeOptional(CKShare.self, forKey: "share"),
      let ownerIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "ownerIdentity")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.containerIdentifier = containerIdentifier
    self.share = share
    self.ownerIdentity = ownerIdentity
    hierarchicalRootRecordID = coder.decodeOptional(
      CKRecordID.self, forKey: "hierarchicalRootRecordID")
    rootRecord = coder.decodeOptional(CKRecord.self, forKey: "rootRecord")
    participantRole = .init(rawValue: coder.decodeInteger(forKey: "participantRole")) ?? .unknown
    participantStatus =
      .init(rawValue: coder.decodeInteger(forKey: "participantStatus")) ?? .unknown
    participantPermission =
      .init(rawValue: coder.decodeInteger(forKey: "participantPermission")) ?? .unknown
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(containerIdentifier, forKey: "containerIdentifier")
    coder.encode(share, forKey: "share")
    coder.encode(ownerIdentity, forKey: "ownerIdentity")
    coder.encode(hierarchicalRootRecordID, forKey: "hierarchicalRootRecordID")
    coder.encode(rootRecord, forKey: "rootRecord")
    coder.encode(participantRole.rawValue, forKey: "participantRole")
    coder.encode(participantStatus.rawValue, forKey: "participantStatus")
    coder.encode(participantPermission.rawValue, forKey: "participantPermission")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareMetadata else { return false }
    return containerIdentifier == other.containerIdentifier
      && share.recordID == other.share.recordID
  }

  open override var hash: Int { share.recordID.hash }

  open override var description: String {
    "<CKShareMetadata: \(share.recordID.recordName) in \(containerIdentifier), "
      + "\(participantRole), \(participantStatus)>"
  }
}
