internal import CloudKitModel
internal import WebServices

/// The description of a share for a user who has its URL: `CKShare.Metadata`.
///
/// The framework makes it: see ``CKFetchShareMetadataOperation``. Pass it to
/// ``CKAcceptSharesOperation`` or `CKContainer.accept(_:)` to accept the share. It cannot change.
///
/// Two are equal if they describe the same share of the same container.
open class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The identifier of the container with the share.
  open var containerIdentifier: String { storedContainerIdentifier }
  /// The share.
  open var share: CKShare { storedShare }
  /// The ID of the record at the top of the shared hierarchy; nil for the share of a zone.
  open var hierarchicalRootRecordID: CKRecord.ID? { storedHierarchicalRootRecordID }
  /// The role of the current user in the share.
  open var participantRole: CKShare.ParticipantRole { storedParticipantRole }
  /// The answer of the current user to the invitation.
  open var participantStatus: CKShare.ParticipantAcceptanceStatus { storedParticipantStatus }
  /// The rights of the current user to the shared records.
  open var participantPermission: CKShare.ParticipantPermission { storedParticipantPermission }
  /// The identity of the owner of the share.
  open var ownerIdentity: CKUserIdentity { storedOwnerIdentity }
  /// The record at the top of the shared hierarchy. Nil unless
  /// ``CKFetchShareMetadataOperation/shouldFetchRootRecord`` was set, and for the share of a zone.
  open var rootRecord: CKRecord? { storedRootRecord }

  /// The ID of the record at the top of the shared hierarchy, or that of the share if it shares a
  /// zone.
  @available(*, deprecated, renamed: "hierarchicalRootRecordID")
  open var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

  /// The role of the current user, as the former type of roles.
  @available(*, deprecated, renamed: "participantRole")
  open var participantType: CKShare.ParticipantType {
    CKShare.ParticipantType(number: participantRole.rawValue)
  }

  private let storedContainerIdentifier: String
  private let storedShare: CKShare
  private let storedHierarchicalRootRecordID: CKRecord.ID?
  private let storedParticipantRole: CKShare.ParticipantRole
  private let storedParticipantStatus: CKShare.ParticipantAcceptanceStatus
  private let storedParticipantPermission: CKShare.ParticipantPermission
  private let storedOwnerIdentity: CKUserIdentity
  private let storedRootRecord: CKRecord?
  /// The last part of the URL from which the metadata came, by which the user accepts the share. The
  /// URL of a link for a single use is not that of the share. Nil for metadata that a test made.
  let shortGUID: String?

  /// Makes metadata without a share, for the subclasses that tests make.
  public override init() {
    storedContainerIdentifier = ""
    storedShare = CKShare(recordZoneID: .default)
    storedHierarchicalRootRecordID = nil
    storedParticipantRole = .unknown
    storedParticipantStatus = .unknown
    storedParticipantPermission = .unknown
    storedOwnerIdentity = CKUserIdentity(UserIdentity())
    storedRootRecord = nil
    shortGUID = nil
  }

  /// Makes metadata from the server's answer. Returns nil if its record is no share.
  ///
  /// - Parameter includesRootRecord: Whether the program asked for the root record. The share of a
  ///   zone has none.
  init?(_ model: SharesResponse.Share, includesRootRecord: Bool) {
    guard let share = CKRecord(model.share) as? CKShare else { return nil }
    storedContainerIdentifier = model.containerIdentifier
    storedShare = share
    storedHierarchicalRootRecordID = model.rootRecordName.map {
      CKRecord.ID(RecordID(recordName: $0, zoneID: model.zoneID))
    }
    storedParticipantRole = .init(model.role)
    storedParticipantStatus = .init(model.acceptance)
    storedParticipantPermission = .init(model.permission)
    storedOwnerIdentity = CKUserIdentity(model.ownerIdentity)
    storedRootRecord =
      includesRootRecord && model.rootRecordName != nil
      ? model.rootRecord.map { CKRecord($0) } : nil
    shortGUID = model.shortGUID
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes metadata from an archive. Returns nil, and makes the decoder fail, if a part is missing.
  public required init?(coder: NSCoder) {
    guard
      let containerID = coder.decodeOptional(ArchivedContainerID.self, forKey: "ContainerID"),
      let share = coder.decodeOptional(CKShare.self, forKey: "Share"),
      let ownerIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "OwnerIdentity")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedContainerIdentifier = containerID.identifier
    storedShare = share
    storedOwnerIdentity = ownerIdentity
    storedHierarchicalRootRecordID = coder.decodeOptional(CKRecordID.self, forKey: "RootRecordID")
    storedRootRecord = coder.decodeOptional(CKRecord.self, forKey: "RootRecord")
    shortGUID = coder.decodeOptionalString(forKey: "shortGUID")
    storedParticipantRole = .init(number: coder.decodeInteger(forKey: "ParticipantType"))
    storedParticipantStatus = .init(number: coder.decodeInteger(forKey: "ParticipantStatus"))
    storedParticipantPermission = .init(
      number: coder.decodeInteger(forKey: "ParticipantPermission"))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(ArchivedContainerID(containerIdentifier), forKey: "ContainerID")
    coder.encode(share, forKey: "Share")
    coder.encode(ownerIdentity, forKey: "OwnerIdentity")
    coder.encode(share.currentUserParticipant, forKey: "CallingParticipant")
    coder.encode(hierarchicalRootRecordID, forKey: "RootRecordID")
    coder.encode(rootRecord, forKey: "RootRecord")
    coder.encodeOptional(rootRecord?.recordType, forKey: "RootRecordType")
    coder.encodeOptional(shortGUID, forKey: "shortGUID")
    coder.encode(participantRole.rawValue, forKey: "ParticipantType")
    coder.encode(participantStatus.rawValue, forKey: "ParticipantStatus")
    coder.encode(participantPermission.rawValue, forKey: "ParticipantPermission")
  }

  /// Returns the metadata itself, which cannot change.
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
