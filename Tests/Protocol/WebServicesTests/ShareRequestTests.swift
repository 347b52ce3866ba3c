import CloudKitModel
import Foundation
import JSONCoding
import Testing
import WebServices

struct ShareRequestTests {
  private let context = MessageContext(ownerNaming: .explicit)

  private var participant: ShareParticipant {
    var name = PersonNameComponents()
    name.givenName = "Ben"
    name.nickname = "B"
    var phonetic = PersonNameComponents()
    phonetic.givenName = "Bänn"
    name.phoneticRepresentation = phonetic
    return ShareParticipant(
      participantID: "p", role: .administrator, permission: .readWrite, acceptance: .pending,
      identity: UserIdentity(
        userRecordName: "_ben", nameComponents: name,
        lookup: UserLookup(emailAddress: "b@x", phoneNumber: "1", userRecordName: "_ben")),
      oneTimeURL: "https://x.test/1", isApprovedRequester: true,
      added: Timestamp(milliseconds: 1_700_000_000_000))
  }

  private var share: Record {
    Record(
      recordID: RecordID(recordName: "s", zoneID: ZoneID(zoneName: "Z", ownerName: "_anna")),
      recordType: "cloudkit.share",
      shareContent: ShareContent(
        root: .init(recordName: "root", recordChangeTag: "1"), publicPermission: .readOnly,
        participants: [participant], owner: participant, currentParticipant: participant,
        shortGUID: "0a", url: "https://x.test/share/0a", deniesAccessRequests: false,
        requesters: [participant.identity], blocked: [UserIdentity(userRecordName: "_max")],
        oneTimeLinks: [
          .init(participantIDs: ["p", "q"], url: "https://x.test/1"), .init(participantIDs: ["r"]),
        ]),
      fields: ["cloudkit.title": .string("Plans")])
  }

  @Test("A share's record is read as it was written, in an operation and in an answer")
  func shareRecord() throws {
    let operation = RecordOperation(
      kind: .create, recordID: share.recordID, recordType: "cloudkit.share",
      fields: ["cloudkit.title": .string("Plans")], shareContent: share.shareContent)
    let request = ModifyRecordsRequest(operations: [operation], isAtomic: true)
    let read = try ModifyRecordsRequest(parsing: request.body(context: context), context: context)
    #expect(try read.operations.map { try $0.get() } == [operation])
    let response = RecordsResponse(records: [.success(.record(share))])
    #expect(
      try RecordsResponse(parsing: response.body(context: context), context: context).records
        == [.success(.record(share))])
  }

  @Test("The members have the protocol's names")
  func names() throws {
    let operation = RecordOperation(
      kind: .create, recordID: RecordID(recordName: "s"), recordType: "cloudkit.share",
      shareContent: ShareContent(
        root: .init(recordName: "root", recordChangeTag: "1"), publicPermission: .readWrite,
        participants: [
          ShareParticipant(
            role: .privateUser, permission: .readOnly, acceptance: .pending,
            identity: UserIdentity(lookup: UserLookup(emailAddress: "b@x")))
        ], deniesAccessRequests: true, requesters: [UserIdentity(userRecordName: "_eva")],
        blocked: [UserIdentity(userRecordName: "_max")],
        oneTimeLinks: [.init(participantIDs: ["p"], url: "u"), .init(participantIDs: ["q"])]))
    let body = ModifyRecordsRequest(operations: [operation], isAtomic: true).body(context: context)
    let record = try JSONValue(parsing: body)["operations"]?.array?.first?["record"]
    #expect(record?["forRecord"] == ["recordName": "root", "recordChangeTag": "1"])
    #expect(record?["publicPermission"] == "READ_WRITE")
    #expect(
      record?["participants"] == [
        [
          "type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
          "userIdentity": ["lookupInfo": ["emailAddress": "b@x"]],
        ]
      ])
    #expect(record?["denyAccessRequests"] == true)
    #expect(record?["requesters"] == [["requesterInformation": ["userRecordName": "_eva"]]])
    #expect(record?["blocked"] == [["blockedInformation": ["userRecordName": "_max"]]])
    #expect(
      record?["oneTimeStableUrlInfo"] == [
        "oneTimeLinks": [
          ["participantId": ["p"], "sharingLink": "u"], ["participantId": ["q"]],
        ]
      ])
  }

  @Test("A share's root is in the zone of the share, whether the request names it or not")
  func zoneOfRoot() throws {
    func read(_ zone: String) throws -> ShareContent? {
      let body = """
        {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{
          "recordType":"cloudkit.share","recordName":"s","forRecord":{"recordName":"r"\(zone)}}}]}
        """
      return try ModifyRecordsRequest(parsing: Data(body.utf8), context: context)
        .operations[0].get().shareContent
    }
    #expect(try read("")?.root?.recordName == "r")
    #expect(try read(#","zoneID":{"zoneName":"Notes"}"#)?.root?.recordName == "r")
    let error = #expect(throws: FailedItem.self) { try read(#","zoneID":{"zoneName":"Other"}"#) }
    #expect(error?.error.code == .badRequest)
    #expect(error?.error.reason.contains("forRecord.zoneID: must be the zone of the share") == true)
  }

  @Test("A participant has the protocol's names for what only the server sets")
  func participantNames() throws {
    let body = RecordsResponse(records: [.success(.record(share))]).body(context: context)
    let json = try JSONValue(parsing: body)["records"]?.array?.first?["participants"]?.array?.first
    #expect(json?["isApprovedRequester"] == true)
    #expect(json?["addedTimestamp"] == 1_700_000_000_000)
    #expect(json?["oneTimeURL"] == "https://x.test/1")
  }

  @Test("Absent members are unknown, members of other services are ignored, and PENDING is read")
  func foreignShare() throws {
    let body = Data(
      #"""
      {"records": [{"recordName": "s", "recordType": "cloudkit.share", "fields": {},
        "zoneID": {"zoneName": "Z"}, "stableUrl": {"routingKey": "x"}, "shortTokenHash": "h",
        "oneTimeStableUrlInfo": {}, "participants": [{"type": "USER", "permission": "READ_ONLY",
          "acceptanceStatus": "PENDING", "orgUser": false, "customRole": ""}]}]}
      """#.utf8)
    let response = try RecordsResponse(parsing: body, context: context)
    guard case .success(.record(let record)) = response.records.first else {
      Issue.record("the record was not read")
      return
    }
    let content = try #require(record.shareContent)
    #expect(content.participants?.map(\.acceptance) == [.pending])
    #expect(content.participants?.map(\.isApprovedRequester) == [false])
    #expect(content.participants?.map(\.added) == [nil])
    #expect(content.publicPermission == nil)
    #expect(content.deniesAccessRequests == nil)
    #expect(content.requesters == nil && content.blocked == nil)
    #expect(content.oneTimeLinks == [])
  }

  @Test("A participant in a request needs no acceptanceStatus, and a wrong one is named")
  func acceptanceStatus() throws {
    func participants(_ member: String) throws -> Result<[ShareParticipant]?, FailedItem> {
      let body = Data(
        #"""
        {"operations": [{"operationType": "create", "record": {"recordName": "s",
          "recordType": "cloudkit.share", "participants": [{"type": "USER",
            "permission": "READ_ONLY"\#(member)}]}}]}
        """#.utf8)
      let request = try ModifyRecordsRequest(parsing: body, context: context)
      return try #require(request.operations.first).map { $0.shareContent?.participants }
    }
    #expect(try participants("").get()?.map(\.acceptance) == [.unknown])
    for (word, status) in [
      ("INVITED", ShareAcceptance.pending), ("PENDING", .pending), ("ACCEPTED", .accepted),
      ("REMOVED", .removed), ("UNKNOWN", .unknown),
    ] {
      let read = try participants(#", "acceptanceStatus": "\#(word)""#).get()
      #expect(read?.map(\.acceptance) == [status])
    }
    for (member, reason) in [
      (#""YES""#, "'YES' must be one of UNKNOWN, INVITED, ACCEPTED, REMOVED"), ("7", "string"),
    ] {
      guard case .failure(let failed) = try participants(#", "acceptanceStatus": \#(member)"#)
      else {
        Issue.record("\(member) was read")
        continue
      }
      let place = "operations[0].record.participants[0].acceptanceStatus: "
      #expect(
        failed.error.reason.hasPrefix(place) && failed.error.reason.contains(reason),
        "\(failed.error.reason)")
    }
  }

  @Test("A wrong word is named with the words that are known")
  func wrongWord() {
    let body = Data(
      #"""
      {"operations": [{"operationType": "create", "record": {"recordName": "s",
        "recordType": "cloudkit.share", "publicPermission": "ALL"}}]}
      """#.utf8)
    let request = try? ModifyRecordsRequest(parsing: body, context: context)
    guard case .failure(let failed) = request?.operations.first else {
      Issue.record("the operation was read")
      return
    }
    #expect(failed.error.reason.contains("publicPermission: 'ALL' must be one of"))
  }

  @Test("Requests and answers about shares are read as they were written")
  func shares() throws {
    let request = ResolveSharesRequest(items: [
      .init(shortGUID: "0a", fetchesRootRecord: true, rootRecordDesiredKeys: ["title"]),
      .init(shortGUID: "0b"),
    ])
    #expect(try ResolveSharesRequest(parsing: request.body) == request)
    let bare = Data(#"{"shortGUIDs": ["0a", {"value": "0b"}]}"#.utf8)
    #expect(
      try ResolveSharesRequest(parsing: bare).items
        == [.init(shortGUID: "0a"), .init(shortGUID: "0b")])
    let response = SharesResponse(results: [
      .success(
        SharesResponse.Share(
          shortGUID: "0a", containerIdentifier: "iCloud.a", environment: .development,
          databaseScope: .private, zoneID: ZoneID(zoneName: "Z", ownerName: "_anna"),
          rootRecordName: "root",
          rootRecord: Record(recordID: RecordID(recordName: "root"), recordType: "Note"),
          share: share, ownerIdentity: UserIdentity(userRecordName: "_anna"),
          permission: .readOnly, acceptance: .accepted, role: .publicUser,
          url: "https://x.test/share/0a")),
      .failure(FailedItem(.share(shortGUID: "0b"), ServiceError(.notFound, "no share"))),
    ])
    #expect(try SharesResponse(parsing: response.body) == response)
    let json = try JSONValue(parsing: response.body)["results"]?.array?.first
    #expect(json?["environment"] == "development")
    #expect(json?["databaseScope"] == "PRIVATE")
    #expect(json?["webpageURL"] == "https://x.test/share/0a")
    #expect(json?["ancestorRecords"] == [] && json?["potentialMatchList"] == [])
  }

  @Test("An answer about a share of an older or another server is read too")
  func otherServersShare() throws {
    let body = Data(
      #"""
      {"results": [{"shortGUID": {"value": "0a"}, "containerIdentifier": "iCloud.a",
        "zoneID": {"zoneName": "Z"}, "share": {"recordName": "s", "recordType": "cloudkit.share"},
        "ownerIdentity": {}, "participantPermission": "NONE", "participantStatus": "INVITED",
        "participantType": "USER", "ancestorRecords": [{"recordName": "a"}],
        "potentialMatchList": [7]}]}
      """#.utf8)
    let share = try #require(try SharesResponse(parsing: body).results.first?.get())
    #expect(share.environment == .production)
    #expect(share.databaseScope == .shared)
    #expect(share.url == nil)
    let wrong = String(decoding: body, as: UTF8.self).replacing(
      #""zoneID""#, with: #""databaseScope": "Shared", "zoneID""#)
    let error = #expect(throws: ServiceError.self) {
      try SharesResponse(parsing: Data(wrong.utf8))
    }
    #expect(error?.reason.contains("'Shared' must be one of PUBLIC, PRIVATE, SHARED") == true)
  }

  @Test("Requests for access and their answers are read as they were written")
  func requestingAccess() throws {
    let request = RequestAccessRequest(shortGUIDs: ["0a", "0b"])
    #expect(try RequestAccessRequest(parsing: request.body) == request)
    let bare = Data(#"{"shortGUIDs": [{"value": "0a"}, "0b"]}"#.utf8)
    #expect(try RequestAccessRequest(parsing: bare) == request)
    let response = RequestAccessResponse(results: [
      .success(.init(shortGUID: "0a")),
      .failure(FailedItem(.share(shortGUID: "0b"), ServiceError(.notFound, "no share"))),
    ])
    #expect(try RequestAccessResponse(parsing: response.body) == response)
    #expect(
      try JSONValue(parsing: response.body)["results"]?.array?.first
        == ["shortGUID": ["value": "0a"]])
    #expect(throws: ServiceError.self) {
      try RequestAccessRequest(parsing: Data(#"{"shortGUIDs": [7]}"#.utf8))
    }
  }

  @Test("Requests and answers about users are read as they were written")
  func users() throws {
    let lookups = [
      UserLookup(emailAddress: "a@x"), UserLookup(phoneNumber: "1"),
      UserLookup(userRecordName: "_a"),
    ]
    let request = FindUsersRequest<UserDiscovery>(lookups: lookups)
    #expect(try FindUsersRequest<UserDiscovery>(parsing: request.body) == request)
    let users = UsersResponse(users: [participant.identity, UserIdentity(userRecordName: "_b")])
    #expect(try UsersResponse(parsing: users.body) == users)
    let caller = UserResponse(
      userRecordName: "_ben", nameComponents: participant.identity.nameComponents,
      lookup: participant.identity.lookup)
    #expect(try UserResponse(parsing: caller.body) == caller)
    for status in ApplicationPermission.Status.allCases {
      let message = PermissionsMessage(statuses: [.userDiscoverability: status])
      #expect(try PermissionsMessage(parsing: message.body) == message)
    }
  }
}
