import CloudKit
import Foundation
import Testing

struct SharingTests {
  private let container = CKContainer(identifier: "iCloud.com.example.unconfigured")
  private let root = CKRecord(
    recordType: "Folder",
    recordID: CKRecord.ID(recordName: "f", zoneID: CKRecordZone.ID(zoneName: "Work")))

  @Test("A share of a record has a type, an owner, and no public permission")
  func share() {
    let share = CKShare(rootRecord: root)
    #expect(share.recordType == CKRecord.SystemType.share && share.url == nil)
    #expect(share.publicPermission == CKShare.ParticipantPermission.none)
    #expect(share.owner.role == .owner && share.participants.contains(share.owner))
    #expect(share.currentUserParticipant?.role == .owner)
    share.publicPermission = .readOnly
    share[CKShare.SystemFieldKey.title] = "Folder"
    share[CKShare.SystemFieldKey.shareType] = "com.example.folder"
    share[CKShare.SystemFieldKey.thumbnailImageData] = Data([1])
    #expect(share[CKShare.SystemFieldKey.title] as? String == "Folder")
    let name = CKRecord.ID(recordName: "s", zoneID: root.recordID.zoneID)
    #expect(CKShare(rootRecord: root, shareID: name).recordID == name)
    let zone = CKShare(recordZoneID: root.recordID.zoneID)
    #expect(zone.recordID.recordName == CKRecordNameZoneWideShare)
  }

  @Test("Sharing's enumerations have Apple's numbers")
  func rawValues() {
    let statuses: [CKShare.ParticipantAcceptanceStatus] = [
      .unknown, .pending, .accepted, .removed,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3])
    let permissions: [CKShare.ParticipantPermission] = [.unknown, .none, .readOnly, .readWrite]
    #expect(permissions.map(\.rawValue) == [0, 1, 2, 3])
    let roles: [CKShare.ParticipantRole] = [
      .unknown, .owner, .administrator, .privateUser, .publicUser,
    ]
    #expect(roles.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(CKShare.SystemFieldKey.title == "cloudkit.title")
    #expect(CKShare.SystemFieldKey.thumbnailImageData == "cloudkit.thumbnailImageData")
    #expect(CKShare.SystemFieldKey.shareType == "cloudkit.type")
  }

  @Test("Lookup infos name a user by address, number or record")
  func lookupInfos() {
    let byAddress = CKUserIdentity.LookupInfo(emailAddress: "a@example.com")
    let byNumber = CKUserIdentity.LookupInfo(phoneNumber: "+1 555")
    let byRecord = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_a"))
    #expect(byAddress.emailAddress == "a@example.com" && byAddress.phoneNumber == nil)
    #expect(byNumber.phoneNumber == "+1 555" && byRecord.userRecordID?.recordName == "_a")
  }

  @Test("The operations of sharing take what apps give them")
  func operations() throws {
    let accept = CKAcceptSharesOperation(shareMetadatas: [])
    accept.perShareResultBlock = { metadata, result in
      let metadata: CKShare.Metadata = metadata
      _ = (metadata.share, metadata.containerIdentifier, metadata.hierarchicalRootRecordID)
      _ = (metadata.rootRecord, metadata.participantRole, metadata.participantStatus)
      _ = (metadata.participantPermission, metadata.ownerIdentity, try? result.get())
    }
    accept.acceptSharesResultBlock = { _ in }
    #expect(accept.perShareResultBlock != nil && accept.acceptSharesResultBlock != nil)
    let url = try #require(URL(string: "https://example.com/share"))
    let metadata = CKFetchShareMetadataOperation(shareURLs: [url])
    metadata.shouldFetchRootRecord = true
    metadata.rootRecordDesiredKeys = ["title"]
    metadata.perShareMetadataResultBlock = { _, _ in }
    metadata.fetchShareMetadataResultBlock = { _ in }
    #expect(metadata.shareURLs == [url] && metadata.shouldFetchRootRecord)
    #expect(metadata.rootRecordDesiredKeys == ["title"])
    let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
      CKUserIdentity.LookupInfo(emailAddress: "a@example.com")
    ])
    participants.perShareParticipantResultBlock = { info, result in
      if let participant = try? result.get() {
        let identity: CKUserIdentity = participant.userIdentity
        _ = (identity.userRecordID, identity.lookupInfo, identity.nameComponents)
        _ = (identity.hasiCloudAccount, participant.participantID, participant.acceptanceStatus)
        participant.permission = .readWrite
        participant.role = .privateUser
      }
      _ = info
    }
    participants.fetchShareParticipantsResultBlock = { _ in }
    #expect(participants.userIdentityLookupInfos?.count == 1)
  }

  @Test("A participant is added to a share once, and removed from it")
  func participants() {
    let share = CKShare(rootRecord: root)
    let participant = CKShare.Participant.oneTimeURLParticipant()
    share.addParticipant(participant)
    share.addParticipant(participant)
    #expect(share.participants.count == 2 && share.participants.contains(participant))
    share.removeParticipant(participant)
    #expect(share.participants == [share.owner])
    _ = (participant.isApprovedRequester, participant.dateAddedToShare)
  }

  @Test("The owner of a share answers requests for access")
  func accessRequests() async throws {
    let share = CKShare(rootRecord: root)
    #expect(
      root.share?.recordID == share.recordID && root.share?.action == CKRecord.ReferenceAction.none)
    #expect(!share.allowsAccessRequests)
    share.allowsAccessRequests = true
    let requesters: [CKShare.AccessRequester] = share.requesters
    for requester in requesters {
      let identity: CKUserIdentity = requester.userIdentity
      let info: CKUserIdentity.LookupInfo = requester.participantLookupInfo
      share.addParticipant(try await container.shareParticipants(for: [info])[info]!.get())
      _ = identity
    }
    share.denyRequesters(requesters)
    share.blockRequesters(requesters)
    let blocked: [CKShare.BlockedIdentity] = share.blockedIdentities
    _ = blocked.map(\.userIdentity)
    share.unblockIdentities(blocked)
    #expect(share.requesters.isEmpty && share.blockedIdentities.isEmpty)
  }

  @Test("A user requests access to a share")
  func requestingAccess() async throws {
    let url = try #require(URL(string: "https://example.com/share"))
    let operation = CKShareRequestAccessOperation(shareURLs: [url])
    operation.perShareAccessRequestResultBlock = { url, result in _ = (url, try? result.get()) }
    operation.shareAccessRequestResultBlock = { result in _ = try? result.get() }
    #expect(operation.shareURLs == [url])
    await #expect(throws: CKError.self) {
      let results: [URL: Result<Void, any Error>] = try await container.requestShareAccess(
        for: [url])
      _ = results
    }
  }

  @Test("The options and the observer of the system's interface take what apps give them")
  func systemInterface() {
    let options = CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: [.readOnly, .readWrite],
      allowedParticipantAccessOptions: .specifiedRecipientsOnly)
    options.allowsParticipantsToInviteOthers = true
    options.allowsAccessRequests = CKAllowedSharingOptions.standard.allowsAccessRequests
    #expect(options.allowedParticipantPermissionOptions == .any)
    let observer = CKSystemSharingUIObserver(container: container)
    observer.systemSharingUIDidSaveShareBlock = { recordID, result in
      _ = (recordID.recordName, try? result.get().url)
    }
    observer.systemSharingUIDidStopSharingBlock = { recordID, result in _ = (recordID, result) }
  }

  @available(*, deprecated)
  @Test("The deprecated blocks of sharing's operations get the operation's error")
  func deprecatedBlocks() async throws {
    let url = try #require(URL(string: "https://example.com/share"))
    let metadata = CKFetchShareMetadataOperation(shareURLs: [url])
    metadata.perShareMetadataBlock = { url, metadata, error in
      _ = (url, metadata?.rootRecordID, error)
    }
    let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
      CKUserIdentity.LookupInfo(emailAddress: "a@example.com")
    ])
    participants.shareParticipantFetchedBlock = { participant in _ = participant.type }
    let errors: [(any Error)?] = [
      await withCheckedContinuation { continuation in
        metadata.fetchShareMetadataCompletionBlock = { continuation.resume(returning: $0) }
        container.add(metadata)
      },
      await withCheckedContinuation { continuation in
        participants.fetchShareParticipantsCompletionBlock = { continuation.resume(returning: $0) }
        container.add(participants)
      },
    ]
    #expect(errors.allSatisfy { $0 is CKError })
    let accept = CKAcceptSharesOperation(shareMetadatas: [])
    accept.perShareCompletionBlock = { metadata, share, error in _ = (metadata, share, error) }
    accept.acceptSharesCompletionBlock = { error in _ = error }
    #expect(accept.perShareCompletionBlock != nil && accept.acceptSharesCompletionBlock != nil)
  }

  @Test("The container's methods of sharing, async")
  func methods() async throws {
    let url = try #require(URL(string: "https://example.com/share"))
    let id = CKRecord.ID(recordName: "_a")
    await #expect(throws: CKError.self) { try await container.shareMetadata(for: url) }
    await #expect(throws: CKError.self) {
      try await container.shareParticipant(forEmailAddress: "a@example.com")
    }
    await #expect(throws: CKError.self) {
      try await container.shareParticipant(forPhoneNumber: "+1 555")
    }
    await #expect(throws: CKError.self) {
      try await container.shareParticipant(forUserRecordID: id)
    }
    await #expect(throws: CKError.self) { _ = try await container.shareMetadatas(for: [url]) }
    await #expect(throws: CKError.self) {
      _ = try await container.shareParticipants(forEmailAddresses: ["a@example.com"])
    }
    await #expect(throws: CKError.self) {
      _ = try await container.shareParticipants(forPhoneNumbers: ["+1 555"])
    }
    await #expect(throws: CKError.self) {
      _ = try await container.shareParticipants(forUserRecordIDs: [id])
    }
    container.fetchShareMetadata(with: url) { metadata, error in _ = (metadata, error) }
    container.fetchShareParticipant(withEmailAddress: "a@example.com") { _, _ in }
    container.fetchShareParticipant(withPhoneNumber: "+1 555") { _, _ in }
    container.fetchShareParticipant(withUserRecordID: id) { _, _ in }
    container.fetchShareMetadatas(for: [url]) { _ in }
    container.fetchShareParticipants(forEmailAddresses: []) { _ in }
    container.fetchShareParticipants(forPhoneNumbers: []) { _ in }
    container.fetchShareParticipants(forUserRecordIDs: []) { _ in }
    func accept(_ metadata: CKShare.Metadata) async throws {
      let share: CKShare = try await container.accept(metadata)
      let results: [CKShare.Metadata: Result<CKShare, any Error>] = try await container.accept([
        metadata
      ])
      container.accept(metadata) { share, error in _ = (share, error) }
      container.accept([metadata]) { result in _ = result }
      _ = (share, results)
    }
  }

  @available(*, deprecated)
  @Test("Discovering users, which Apple deprecates")
  func discovery() async {
    let id = CKRecord.ID(recordName: "_a")
    let permission: CKContainer.ApplicationPermissions = .userDiscoverability
    #expect(permission.rawValue == 1)
    let statuses: [CKContainer.ApplicationPermissionStatus] = [
      .initialState, .couldNotComplete, .denied, .granted,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3])
    container.requestApplicationPermission(permission) { status, error in _ = (status, error) }
    container.status(forApplicationPermission: permission) { _, _ in }
    container.discoverAllIdentities { identities, error in _ = (identities, error) }
    container.discoverUserIdentity(withEmailAddress: "a@example.com") { _, _ in }
    container.discoverUserIdentity(withPhoneNumber: "+1 555") { _, _ in }
    container.discoverUserIdentity(withUserRecordID: id) { _, _ in }
    await #expect(throws: CKError.self) {
      _ = try await container.requestApplicationPermission(permission)
    }
    await #expect(throws: CKError.self) {
      _ = try await container.applicationPermissionStatus(for: permission)
    }
    await #expect(throws: CKError.self) {
      _ = try await container.allUserIdentitiesFromContacts()
    }
    await #expect(throws: CKError.self) {
      _ = try await container.userIdentity(forEmailAddress: "a@example.com")
    }
    await #expect(throws: CKError.self) {
      _ = try await container.userIdentity(forPhoneNumber: "+1 555")
    }
    await #expect(throws: CKError.self) {
      _ = try await container.userIdentity(forUserRecordID: id)
    }
  }
}
