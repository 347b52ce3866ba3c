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
      oneTimeURL: "https://x.test/1")
  }

  private var share: Record {
    Record(
      recordID: RecordID(recordName: "s", zoneID: ZoneID(zoneName: "Z", ownerName: "_anna")),
      recordType: "cloudkit.share",
      shareContent: ShareContent(
        root: .init(recordName: "root", recordChangeTag: "1"), publicPermission: .readOnly,
        participants: [participant], owner: participant, currentParticipant: participant,
        shortGUID: "0a", url: "https://x.test/share/0a"),
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
        ]))
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
    let response = SharesResponse(results: [
      .success(
        SharesResponse.Share(
          shortGUID: "0a", containerIdentifier: "iCloud.a",
          zoneID: ZoneID(zoneName: "Z", ownerName: "_anna"), rootRecordName: "root",
          rootRecord: Record(recordID: RecordID(recordName: "root"), recordType: "Note"),
          share: share, ownerIdentity: UserIdentity(userRecordName: "_anna"),
          permission: .readOnly, acceptance: .accepted, role: .publicUser)),
      .failure(FailedItem(.share(shortGUID: "0b"), ServiceError(.notSupported, "no sharing"))),
    ])
    #expect(try SharesResponse(parsing: response.body) == response)
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
