import CloudKitModel
import Foundation
import JSONCoding
import PropertyTesting
import Testing
import WebServices

struct OwnerNamingTests {
  private let server = MessageContext(ownerNaming: .relative(to: "_me"))
  private let owner = MessageContext(ownerNaming: .implied)
  private let participant = MessageContext(ownerNaming: .explicit)

  @Test("Client and server agree in the client's own database", arguments: Seeds.some(20))
  func ownDatabase(seed: Int) throws {
    var random = RandomModel(seed: seed, owners: [ZoneID.currentOwnerName])
    let operations = (0..<5).map { _ in random.recordOperation() }
    let request = ModifyRecordsRequest(operations: operations, isAtomic: true)
    let received = try ModifyRecordsRequest(parsing: request.body(context: owner), context: server)
    #expect(try received.operations.map { try $0.get() } == operations)

    let subscriptions = (0..<5).map { _ in random.subscriptionOperation() }
    let receivedSubscriptions = try ModifySubscriptionsRequest(
      parsing: ModifySubscriptionsRequest(operations: subscriptions).body(context: owner),
      context: server)
    #expect(try receivedSubscriptions.operations.map { try $0.get() } == subscriptions)

    let items: [Result<RecordsResponse.Item, FailedItem>] = [
      .success(.record(random.record())), .success(.deleted(random.recordID())),
      .failure(FailedItem(.zone(random.zoneID()), random.serviceError())),
    ]
    let answer = RecordsResponse(records: items).body(context: server)
    #expect(try RecordsResponse(parsing: answer, context: owner).records == items)
  }

  @Test("Client and server agree on the zones of others", arguments: Seeds.some(20))
  func sharedDatabase(seed: Int) throws {
    var random = RandomModel(seed: seed, owners: ["_other", "_third"])
    let operations = (0..<5).map { _ in random.recordOperation() }
    let request = ModifyRecordsRequest(operations: operations, isAtomic: true)
    let received = try ModifyRecordsRequest(
      parsing: request.body(context: participant), context: server)
    #expect(try received.operations.map { try $0.get() } == operations)

    let items: [Result<RecordsResponse.Item, FailedItem>] = [.success(.record(random.record()))]
    let answer = RecordsResponse(records: items).body(context: server)
    #expect(try RecordsResponse(parsing: answer, context: participant).records == items)
  }

  @Test(
    "The server knows its caller by name, by the placeholder and by silence",
    arguments: [
      #"{"zoneName":"Notes"}"#, #"{"zoneName":"Notes","ownerRecordName":"_me"}"#,
      #"{"zoneName":"Notes","ownerRecordName":"__defaultOwner__"}"#,
      #"{"zoneName":"Notes","ownerRecordName":null}"#, #"{"zoneName":"Notes","ownerName":"_me"}"#,
      #"{"zoneName":"Notes","ownerRecordName":"_me","ownerName":"_other"}"#,
      #"{"zoneName":"Notes","ownerRecordName":"_me","zoneType":"REGULAR_CUSTOM_ZONE"}"#,
    ])
  func caller(zone: String) throws {
    let request = try LookupZonesRequest(
      parsing: Data(#"{"zones":[\#(zone)]}"#.utf8), context: server)
    #expect(request.zoneIDs == [ZoneID(zoneName: "Notes")])
  }

  @Test("The server names its caller in full, and never as ownerName")
  func answer() throws {
    let answer = ZonesResponse(zones: [
      .success(.zone(.default, isAtomic: false)),
      .success(.zone(ZoneID(zoneName: "Notes", ownerName: "_other"), isAtomic: true)),
    ])
    #expect(
      String(decoding: answer.body(context: server), as: UTF8.self)
        == #"{"zones":[{"zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_me","#
        + #""zoneType":"DEFAULT_ZONE"},"atomic":false},"#
        + #"{"zoneID":{"zoneName":"Notes","ownerRecordName":"_other","#
        + #""zoneType":"REGULAR_CUSTOM_ZONE"},"atomic":true}]}"#)
  }

  @Test("On request the server names its caller by default, and reads that name as the caller's")
  func callerByDefault() throws {
    var context = server
    context.namesCallerByDefault = true
    let stamp = Record.Stamp(timestamp: Timestamp(milliseconds: 1), userRecordName: "_me")
    let record = Record(
      recordID: RecordID(recordName: "n"), recordType: "Note", created: stamp,
      modified: Record.Stamp(timestamp: Timestamp(milliseconds: 2), userRecordName: "_other"))
    let answer = RecordsResponse(records: [.success(.record(record))])
    func users(_ context: MessageContext) throws -> [String?] {
      let read = try RecordsResponse(
        parsing: answer.body(context: context), context: participant)
      guard case .success(.record(let record)) = read.records[0] else { return [] }
      return [
        record.created?.userRecordName, record.modified?.userRecordName,
        record.recordID.zoneID.ownerName,
      ]
    }
    #expect(try users(context) == ["__defaultOwner__", "_other", "__defaultOwner__"])
    #expect(try users(server) == ["_me", "_other", "_me"])

    let lookup = #"{"records":[{"recordName":"__defaultOwner__"},"__defaultOwner__"]}"#
    for context in [server, context] {
      let request = try LookupRecordsRequest(parsing: Data(lookup.utf8), context: context)
      #expect(request.recordIDs.map(\.recordName) == ["_me", "_me"])
    }
  }

  @Test("The server reads the default name as the caller's, wherever a share names a user")
  func usersOfShares() throws {
    let users =
      #"{"userRecordName":"__defaultOwner__","lookupInfo":{"userRecordName":"__defaultOwner__"}}"#
    let request = """
      {"operations":[{"operationType":"create","record":{"recordType":"cloudkit.share",
        "recordName":"s","participants":[
          {"type":"USER","permission":"READ_WRITE","userIdentity":\(users)}],
        "requesters":[{"requesterInformation":\(users)}]}}]}
      """
    var asking = server
    asking.namesCallerByDefault = true
    for context in [server, asking] {
      let read = try ModifyRecordsRequest(parsing: Data(request.utf8), context: context)
      let share = try #require(try read.operations[0].get().shareContent)
      let identity = try #require(share.participants?.first?.identity)
      for user in [identity, try #require(share.requesters?.first)] {
        #expect(user.userRecordName == "_me" && user.lookup?.userRecordName == "_me")
      }
      let name = context.namesCallerByDefault ? "__defaultOwner__" : "_me"
      var writer = JSONWriter()
      identity.write(to: &writer, context: context)
      #expect(
        writer.text == #"{"userRecordName":"\#(name)","lookupInfo":{"userRecordName":"\#(name)"}}"#)
    }
  }

  @Test(
    "Answers about users have the caller's record name, also if the request asks for the default")
  func answersAboutUsers() throws {
    var context = server
    context.namesCallerByDefault = true
    let user = UserIdentity(userRecordName: "_me", lookup: UserLookup(userRecordName: "_me"))
    let bodies = [
      UserResponse(userRecordName: "_me", lookup: user.lookup).body(context: context),
      CurrentUserResponse(userRecordName: "_me", firstName: nil, lastName: nil, emailAddress: nil)
        .body(context: context),
      UsersResponse(users: [user]).body(context: context),
      LookedUpUsersResponse(users: [user]).body(context: context),
    ]
    for body in bodies {
      let text = String(decoding: body, as: UTF8.self)
      #expect(text.contains("_me") && !text.contains("__defaultOwner__"), "\(text)")
    }
  }

  @Test("In its own database a client takes every owner for itself")
  func implied() throws {
    let body = #"{"records":[{"recordName":"r","zoneID":{"zoneName":"Z","ownerRecordName":"_x"}}]}"#
    let request = try LookupRecordsRequest(parsing: Data(body.utf8), context: owner)
    #expect(request.recordIDs == [RecordID(recordName: "r", zoneID: ZoneID(zoneName: "Z"))])
  }
}
