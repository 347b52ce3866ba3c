import CloudKitModel
import Testing
import WebServices

@testable import CloudKit

struct ShareOperationTests {
  private let url = URL(string: "https://x.test/share/0abc#Plans")!

  private static func share(_ shortGUID: String) -> SharesResponse.Share {
    let zoneID = ZoneID(zoneName: "Notes", ownerName: "_anna")
    return SharesResponse.Share(
      shortGUID: shortGUID, containerIdentifier: "iCloud.test", environment: .production,
      databaseScope: .shared, zoneID: zoneID, rootRecordName: "root",
      rootRecord: Record(
        recordID: RecordID(recordName: "root", zoneID: zoneID), recordType: "Note",
        fields: ["title": .string("Plans")]),
      share: Record(
        recordID: RecordID(recordName: "s", zoneID: zoneID), recordType: "cloudkit.share",
        shareContent: ShareContent(
          shortGUID: shortGUID, url: "https://x.test/share/\(shortGUID)")),
      ownerIdentity: UserIdentity(userRecordName: "_anna"), permission: .readWrite,
      acceptance: .pending, role: .privateUser)
  }

  /// Answers for each share that is asked for; one named `gone` does not exist.
  private static let shares: ScriptedTransport.Script = { request, _ in
    guard let body = request.body, let asked = try? ResolveSharesRequest(parsing: body) else {
      return .error(ServiceError(.badRequest, "no body"))
    }
    return .ok(
      SharesResponse(
        results: asked.items.map { item in
          item.shortGUID == "gone"
            ? .failure(
              FailedItem(.share(shortGUID: "gone"), ServiceError(.notFound, "no such share")))
            : .success(share(item.shortGUID))
        }
      ).body)
  }

  @Test("Metadata is fetched by the last part of the URL's path, each share with its own result")
  func metadata() async throws {
    let transport = ScriptedTransport(Self.shares)
    let container = CKContainer.scripted(transport)
    let gone = URL(string: "https://x.test/share/gone")!
    let none = URL(string: "https://x.test/")!
    let results = try await container.shareMetadatas(for: [url, gone, none])
    #expect(transport.requests.map(\.operation) == ["records/resolve"])
    #expect(transport.requests.first?.scope == .public)
    let body = try #require(transport.requests.first?.body)
    #expect(try ResolveSharesRequest(parsing: body).items.map(\.shortGUID) == ["0abc", "gone"])
    let metadata = try #require(try results[url]?.get())
    #expect(metadata.containerIdentifier == "iCloud.test")
    #expect(metadata.share.url?.absoluteString == "https://x.test/share/0abc")
    #expect(metadata.hierarchicalRootRecordID?.recordName == "root")
    #expect(metadata.hierarchicalRootRecordID?.zoneID.ownerName == "_anna")
    #expect(metadata.rootRecord == nil)
    #expect(metadata.participantRole == .privateUser)
    #expect(metadata.participantStatus == .pending)
    #expect(metadata.participantPermission == .readWrite)
    #expect(metadata.ownerIdentity.userRecordID?.recordName == "_anna")
    #expect(metadata.share.owner.userIdentity.userRecordID == nil)
    #expect(throws: CKError.self) { try results[gone]?.get() }
    #expect((results[gone]?.error as? CKError)?.code == .unknownItem)
    #expect((results[none]?.error as? CKError)?.code == .invalidArguments)
  }

  @Test("Metadata survives a secure archive")
  func archivedMetadata() throws {
    let metadata = try #require(CKShareMetadata(Self.share("0abc"), includesRootRecord: true))
    let back = try archivedAndBack(metadata)
    #expect(back == metadata)
    #expect(back.hash == metadata.hash)
    #expect(back.rootRecord?["title"] as? String == "Plans")
    #expect(back.participantPermission == .readWrite)
    #expect(metadata.copy() as? CKShare.Metadata == metadata)
  }

  @Test("Metadata of a zone's share has no root record, even if the server sends one")
  func zoneMetadata() throws {
    var model = Self.share("0abc")
    model.rootRecordName = nil
    let metadata = try #require(CKShareMetadata(model, includesRootRecord: true))
    #expect(metadata.hierarchicalRootRecordID == nil)
    #expect(metadata.rootRecord == nil)
  }

  @Test("Metadata may be subclassed by tests")
  func subclass() {
    final class Fixed: CKShare.Metadata, @unchecked Sendable {
      override var hierarchicalRootRecordID: CKRecord.ID? { CKRecord.ID(recordName: "fixed") }
    }
    let metadata: CKShare.Metadata = Fixed()
    #expect(metadata.hierarchicalRootRecordID?.recordName == "fixed")
    #expect(metadata.participantRole == .unknown)
    #expect(metadata.rootRecord == nil)
  }

  @Test("An operation fetches root records with the keys that are desired")
  @available(*, deprecated)
  func rootRecord() throws {
    let transport = ScriptedTransport(Self.shares)
    let operation = CKFetchShareMetadataOperation(shareURLs: [url])
    operation.configuration.container = CKContainer.scripted(transport)
    operation.shouldFetchRootRecord = true
    operation.rootRecordDesiredKeys = ["title"]
    let events = Guarded<[String]>([])
    operation.perShareMetadataResultBlock = { _, result in
      events.append("result \(result.value?.rootRecord?["title"] ?? "")")
    }
    operation.perShareMetadataBlock = { _, metadata, _ in
      events.append("old \(metadata?.rootRecordID.recordName ?? "")")
    }
    operation.fetchShareMetadataResultBlock = { _ in events.append("end") }
    operation.fetchShareMetadataCompletionBlock = { events.append("old end \($0 == nil)") }
    operation.runToEnd()
    #expect(events.current == ["result Plans", "old root", "end", "old end true"])
    let body = try #require(transport.requests.first?.body)
    let item = try #require(try ResolveSharesRequest(parsing: body).items.first)
    #expect(item.fetchesRootRecord)
    #expect(item.rootRecordDesiredKeys == ["title"])
  }

  @Test("Accepting sends the short GUIDs, and a failed share is a partial failure in the old block")
  @available(*, deprecated)
  func accepting() async throws {
    let transport = ScriptedTransport(Self.shares)
    let container = CKContainer.scripted(transport)
    let good = try #require(CKShareMetadata(Self.share("0abc"), includesRootRecord: false))
    let bad = try #require(CKShareMetadata(Self.share("gone"), includesRootRecord: false))
    let share = try await container.accept(good)
    #expect(share.url == good.share.url)
    #expect(transport.requests.map(\.operation) == ["records/accept"])
    let error = await #expect(throws: CKError.self) { try await container.accept(bad) }
    #expect(error?.code == .unknownItem)

    let operation = CKAcceptSharesOperation(shareMetadatas: [bad])
    operation.configuration.container = container
    let ends = Guarded<[String]>([])
    operation.perShareCompletionBlock = { _, share, _ in ends.append("item \(share == nil)") }
    operation.acceptSharesResultBlock = { ends.append("\($0.error == nil)") }
    operation.acceptSharesCompletionBlock = { error in
      ends.append("\((error as? CKError)?.code == .partialFailure)")
    }
    operation.runToEnd()
    #expect(ends.current == ["item true", "true", "true"])
    #expect(try await container.accept([CKShare.Metadata]()).isEmpty)
    #expect(transport.requests.count == 3)
  }

  /// Knows only Anna, by e-mail address and record name.
  private static let users: ScriptedTransport.Script = { request, _ in
    guard let body = request.body else {
      return .ok(UsersResponse(users: [UserIdentity(userRecordName: "_anna")]).body)
    }
    let lookups =
      (try? FindUsersRequest<UserDiscovery>(parsing: body))?.lookups ?? []
    let found = lookups.filter {
      $0.emailAddress == "anna@example.com" || $0.userRecordName == "_anna"
    }
    var name = PersonNameComponents()
    name.givenName = "Anna"
    return .ok(
      UsersResponse(
        users: found.map {
          UserIdentity(userRecordName: "_anna", nameComponents: name, lookup: $0)
        }
      ).body)
  }

  @Test("Participants are made of those who are found, and of addresses and IDs that are not")
  func participants() async throws {
    let container = CKContainer.scripted(Self.users)
    let anna = try await container.shareParticipant(forEmailAddress: "anna@example.com")
    #expect(anna.userIdentity.hasiCloudAccount)
    #expect(anna.userIdentity.nameComponents?.givenName == "Anna")
    #expect(anna.role == .privateUser)
    let ben = try await container.shareParticipant(forPhoneNumber: "+4930")
    #expect(!ben.userIdentity.hasiCloudAccount)
    #expect(ben.userIdentity.lookupInfo?.phoneNumber == "+4930")
    let ids = ["_anna", "_hidden"].map { CKRecord.ID(recordName: $0) }
    let results = try await container.shareParticipants(forUserRecordIDs: ids)
    #expect(try results[ids[0]]?.get() == anna)
    let hidden = try #require(try results[ids[1]]?.get().userIdentity)
    #expect(hidden.userRecordID == ids[1] && hidden.hasiCloudAccount)
    #expect(hidden.nameComponents == nil && hidden.lookupInfo?.userRecordID == ids[1])
    #expect(try await container.shareParticipants(forEmailAddresses: []).isEmpty)
    let byPhone = try await container.shareParticipants(forPhoneNumbers: ["1", "2"])
    #expect(Set(byPhone.keys) == ["1", "2"])
    let info = CKUserIdentity.LookupInfo(emailAddress: "anna@example.com")
    #expect(try await container.shareParticipants(for: [info])[info]?.get() == anna)
  }

  @Test("Users who cannot be found are nil or left out")
  @available(*, deprecated)
  func discovery() async throws {
    let container = CKContainer.scripted(Self.users)
    let anna = try await container.userIdentity(forEmailAddress: "anna@example.com")
    #expect(anna?.userRecordID?.recordName == "_anna")
    #expect(try await container.userIdentity(forPhoneNumber: "1") == nil)
    #expect(
      try await container.userIdentity(forUserRecordID: CKRecord.ID(recordName: "_anna")) == anna)
    let found = try await container.userIdentities(
      forEmailAddresses: ["anna@example.com", "ben@example.com"])
    #expect(found == ["anna@example.com": try #require(anna)])
    #expect(try await container.userIdentities(forPhoneNumbers: ["1"]).isEmpty)
    #expect(try await container.userIdentities(forUserRecordIDs: []).isEmpty)
    #expect(try await container.allUserIdentitiesFromContacts() == [anna])

    let events = Guarded<[String]>([])
    let some = CKDiscoverUserIdentitiesOperation(
      userIdentityLookupInfos: [.init(emailAddress: "anna@example.com"), .init(phoneNumber: "1")])
    some.configuration.container = container
    some.userIdentityDiscoveredBlock = { events.append($1.emailAddress ?? "") }
    some.discoverUserIdentitiesResultBlock = { events.append("\($0.error == nil)") }
    some.discoverUserIdentitiesCompletionBlock = { events.append("\($0 == nil)") }
    some.runToEnd()
    let all = CKDiscoverAllUserIdentitiesOperation()
    all.configuration.container = container
    all.userIdentityDiscoveredBlock = { events.append($0.userRecordID?.recordName ?? "") }
    all.discoverAllUserIdentitiesResultBlock = { events.append("\($0.error == nil)") }
    all.discoverAllUserIdentitiesCompletionBlock = { events.append("\($0 == nil)") }
    all.runToEnd()
    #expect(
      events.current == ["anna@example.com", "true", "true", "_anna", "true", "true"])

    let infos = Guarded<[String]>([])
    let users = CKDiscoverUserInfosOperation(
      emailAddresses: ["anna@example.com"], userRecordIDs: [CKRecord.ID(recordName: "_ben")])
    users.configuration.container = container
    users.discoverUserInfosCompletionBlock = { byEmail, byID, error in
      infos.append(byEmail?["anna@example.com"]?.userRecordID?.recordName ?? "none")
      infos.append("\(byEmail?.count ?? -1) \(byID?.count ?? -1) \(error == nil)")
    }
    users.runToEnd()
    let contacts = CKDiscoverAllContactsOperation()
    contacts.configuration.container = container
    contacts.discoverAllContactsCompletionBlock = { found, error in
      infos.append("\(found?.map { $0.userRecordID?.recordName } == ["_anna"]) \(error == nil)")
    }
    contacts.runToEnd()
    #expect(infos.current == ["_anna", "1 0 true", "true true"])

    let byEmail = await withCheckedContinuation { continuation in
      container.discoverUserInfo(withEmailAddress: "anna@example.com") { info, error in
        continuation.resume(returning: error == nil ? info?.userRecordID?.recordName : nil)
      }
    }
    let byID = await withCheckedContinuation { continuation in
      container.discoverUserInfo(withUserRecordID: CKRecord.ID(recordName: "_nobody")) {
        info, error in
        continuation.resume(returning: info == nil && error == nil)
      }
    }
    let everybody = await withCheckedContinuation { continuation in
      container.discoverAllContactUserInfos { infos, error in
        continuation.resume(returning: infos?.map { $0.userRecordID?.recordName })
      }
    }
    #expect(byEmail == "_anna" && byID && everybody == ["_anna"])
  }

  @Test("The token for a web page is that of the program's user, whom the server accepts")
  @available(*, deprecated)
  func webAuthToken() throws {
    let events = Guarded<[String]>([])
    func fetch(_ apiToken: String, _ container: CKContainer) {
      let operation = CKFetchWebAuthTokenOperation(apiToken: apiToken)
      operation.configuration.container = container
      operation.fetchWebAuthTokenResultBlock = { result in
        events.append(result.value ?? "\((result.error as? CKError)?.code.rawValue ?? 0)")
      }
      operation.fetchWebAuthTokenCompletionBlock = { token, error in
        events.append("\(token != nil) \(error == nil)")
      }
      operation.runToEnd()
    }
    let transport = ScriptedTransport { _, _ in .ok(Data(#"{"userRecordName": "_anna"}"#.utf8)) }
    let container = CKContainer.scripted(transport)
    fetch("", container)
    #expect(events.current == ["12", "false false"])
    events.withLock { $0 = [] }
    fetch("api", container)
    #expect(events.current == ["a+b/c=", "true true"])
    events.withLock { $0 = [] }
    let refusing = CKContainer.scripted { _, _ in
      .error(ServiceError(.authenticationFailed, "no"))
    }
    fetch("api", refusing)
    #expect(events.current == ["9", "false false"])
  }

  @Test("A permission is granted where the user was not asked, and not where it was denied")
  @available(*, deprecated)
  func permission() async throws {
    let status = Guarded(ApplicationPermission.Status.initialState)
    let transport = ScriptedTransport { request, _ in
      if let body = request.body, let message = try? PermissionsMessage(parsing: body) {
        status.withLock { $0 = message.statuses[.userDiscoverability] ?? $0 }
      }
      return .ok(PermissionsMessage(statuses: [.userDiscoverability: status.current]).body)
    }
    let container = CKContainer.scripted(transport)
    #expect(
      try await container.applicationPermissionStatus(for: .userDiscoverability) == .initialState)
    #expect(
      try await container.requestApplicationPermission(.userDiscoverability) == .granted)
    #expect(
      try await container.applicationPermissionStatus(for: .userDiscoverability) == .granted)
    status.withLock { $0 = .denied }
    #expect(
      try await container.requestApplicationPermission(.userDiscoverability) == .denied)
    let error = await #expect(throws: CKError.self) {
      try await container.requestApplicationPermission([])
    }
    #expect(error?.code == .invalidArguments)
    let offline = CKContainer.scripted { _, _ in .failure(TransportFailure(.offline, "none")) }
    let (answer, failure) = await withCheckedContinuation { continuation in
      offline.status(forApplicationPermission: .userDiscoverability) {
        continuation.resume(returning: ($0, $1))
      }
    }
    #expect(answer == .couldNotComplete)
    #expect((failure as? CKError)?.code == .networkUnavailable)
  }
}
