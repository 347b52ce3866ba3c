import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct NotificationLogOperationTests {
  private static let item = NotificationLogItem(
    payload: [
      "aps": ["alert": "Body", "badge": 3],
      "ck": [
        "ce": 2, "cid": "iCloud.test", "ckuserid": "_user", "nid": "first", "aux": [:],
        "qry": ["sid": "s", "dbs": 1, "fo": 1, "rid": "r", "zid": "Notes", "zoid": "_user"],
      ],
    ],
    fields: [
      "int": .int64(5), "double": .double(2.5), "text": .string("long"),
      "date": .timestamp(Timestamp(milliseconds: 1_500)), "data": .bytes(Data([1, 2])),
      "dates": .list(of: .timestamp, [.timestamp(Timestamp(milliseconds: 0))]),
      "reference": .reference(Reference(recordName: "other")),
    ])
  private static let context = MessageContext(ownerNaming: .relative(to: "_user"))
  private static let read = NotificationLogItem(
    readNotificationID: "second", container: "iCloud.test", environment: .development)

  /// A log of two pages.
  private static let log: ScriptedTransport.Script = { request, _ in
    guard let parsed = try? NotificationChangesRequest(parsing: request.body ?? Data()) else {
      return .error(ServiceError(.badRequest, "not a request for changes"))
    }
    switch parsed.syncToken {
    case nil:
      return .ok(
        NotificationChangesResponse(notifications: [item], syncToken: "one", moreComing: true)
          .body(context: context))
    case "one":
      return .ok(
        NotificationChangesResponse(notifications: [read], syncToken: "two", moreComing: false)
          .body(context: context))
    default:
      return .error(ServiceError(.changeTokenExpired, "too old"))
    }
  }

  /// Answers tokens in turn: nil is a page, as is each text; the text `-` is a token that has expired.
  private static func answering(_ tokens: String...) -> ScriptedTransport {
    ScriptedTransport { _, index in
      guard index < tokens.count else { return .error(ServiceError(.badRequest, "one too many")) }
      guard tokens[index] != "-" else {
        return .error(ServiceError(.changeTokenExpired, "too old"))
      }
      return .ok(
        NotificationChangesResponse(
          notifications: [item], syncToken: tokens[index], moreComing: index < tokens.count - 1
        ).body(context: context))
    }
  }

  private static func tokens(sentTo transport: ScriptedTransport) throws -> [String?] {
    try transport.requests.map {
      try NotificationChangesRequest(parsing: $0.body ?? Data()).syncToken
    }
  }

  @Test("A token that expires during a reading is no loss: what was read is returned")
  func expiresBetweenPages() async throws {
    let transport = Self.answering("a", "-", "b", "c")
    let container = CKContainer.scripted(transport)
    let part = try await container.petrelNotifications(since: CKServerChangeToken(syncToken: "0"))
    #expect(part.notifications.count == 1 && part.token.syncToken == "a")
    #expect(part.moreComing && !part.isRestart)

    let pages = CKContainer.scripted(Self.answering("a", "-", "b", "c")).petrelNotificationPages(
      since: CKServerChangeToken(syncToken: "0"))
    var read: [String] = []
    for try await page in pages { read.append(page.token.syncToken + (page.isRestart ? "!" : "")) }
    #expect(read == ["a", "b!", "c"])
  }

  @Test("A reading begins anew once, and not for a log without a token")
  func restartsOnce() async throws {
    let transport = Self.answering("-", "a", "-", "b")
    var pages = CKContainer.scripted(transport).petrelNotificationPages(
      since: CKServerChangeToken(syncToken: "0")
    ).makeAsyncIterator()
    #expect(try await pages.next()?.isRestart == true)
    await #expect(throws: CKError.self) { try await pages.next() }
    #expect(try await pages.next() == nil)
    #expect(try Self.tokens(sentTo: transport) == ["0", nil, "a"])

    let whole = CKContainer.scripted(Self.answering("-", "a", "b"))
    let restarted = try await whole.petrelNotifications(since: CKServerChangeToken(syncToken: "0"))
    #expect(restarted.isRestart && restarted.notifications.count == 2 && !restarted.moreComing)

    let refused = await #expect(throws: CKError.self) {
      try await CKContainer.scripted(Self.answering("-", "a")).petrelNotifications(since: nil)
    }
    #expect(refused?.code == .changeTokenExpired)
  }

  @available(*, deprecated)
  @Test("Changes are fetched page by page, in their classes")
  func fetch() {
    let transport = ScriptedTransport(Self.log)
    let container = CKContainer.scripted(transport)
    let seen = Guarded<[CKNotification]>([])
    let calls = Guarded<[String]>([])
    var token: CKServerChangeToken?
    for _ in 0..<2 {
      let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
      operation.resultsLimit = 1
      operation.notificationChangedBlock = {
        seen.append($0)
        calls.append("changed")
      }
      let next = Guarded<CKServerChangeToken?>(nil)
      operation.fetchNotificationChangesCompletionBlock = { [unowned operation] token, error in
        calls.append("\(token?.syncToken ?? "-") \(operation.moreComing) \(error == nil)")
        next.withLock { $0 = token }
      }
      container.add(operation)
      operation.waitUntilFinished()
      token = next.current
    }
    #expect(calls.current == ["changed", "one true true", "changed", "two false true"])
    let query = seen.current.first as? CKQueryNotification
    #expect(query?.notificationType == .query && query?.isPruned == false)
    #expect(query?.alertBody == "Body" && query?.badge == 3)
    #expect(query?.notificationID == CKNotificationID("first"))
    let notes = CKRecordZone.ID(zoneName: "Notes")
    #expect(query?.recordID == CKRecord.ID(recordName: "r", zoneID: notes))
    #expect(query?.recordFields?["int"] as? Int == 5)
    #expect(query?.recordFields?["double"] as? Double == 2.5)
    #expect(query?.recordFields?["text"] as? String == "long")
    #expect(query?.recordFields?["date"] as? Date == Date(timeIntervalSince1970: 1.5))
    #expect(query?.recordFields?["data"] as? Data == Data([1, 2]))
    #expect(query?.recordFields?["dates"] as? [Date] == [Date(timeIntervalSince1970: 0)])
    let reference = query?.recordFields?["reference"] as? CKRecord.Reference
    #expect(reference?.recordID == CKRecord.ID(recordName: "other", zoneID: notes))
    let marked = seen.current.last
    #expect(marked?.notificationType == .readNotification)
    #expect(marked?.notificationID == CKNotificationID("second"))
    #expect(marked?.containerIdentifier == "iCloud.test")
    #expect(marked?.subscriptionID == nil && marked?.subscriptionOwnerUserRecordID == nil)
    #expect(marked.map { type(of: $0) == CKNotification.self } == true)
    #expect(transport.requests.allSatisfy { $0.scope == nil })
    #expect(
      transport.requests.map(\.operation) == Array(repeating: "notifications/changes", count: 2))
    let sent = transport.requests.compactMap {
      try? NotificationChangesRequest(parsing: $0.body ?? Data())
    }
    #expect(sent.map(\.resultsLimit) == [1, 1])
  }

  @available(*, deprecated)
  @Test("A token that is too old is changeTokenExpired, without a new token")
  func expired() {
    let operation = CKFetchNotificationChangesOperation(
      previousServerChangeToken: CKServerChangeToken(syncToken: "ancient"))
    let outcome = Guarded<(CKServerChangeToken?, CKError?)>((nil, nil))
    operation.fetchNotificationChangesCompletionBlock = { token, error in
      outcome.withLock { $0 = (token, error as? CKError) }
    }
    CKContainer.scripted(Self.log).add(operation)
    operation.waitUntilFinished()
    #expect(outcome.current.0 == nil)
    #expect(outcome.current.1?.code == .changeTokenExpired)
    #expect(!operation.moreComing)
  }

  @available(*, deprecated)
  @Test("A negative limit and a negative badge are refused before anything is sent")
  func invalid() {
    let transport = ScriptedTransport(Self.log)
    let codes = Guarded<[CKError.Code?]>([])
    let fetch = CKFetchNotificationChangesOperation()
    fetch.resultsLimit = -1
    fetch.fetchNotificationChangesCompletionBlock = { codes.append(($1 as? CKError)?.code) }
    let badge = CKModifyBadgeOperation(badgeValue: -1)
    badge.modifyBadgeCompletionBlock = { codes.append(($0 as? CKError)?.code) }
    for operation in [fetch, badge] {
      CKContainer.scripted(transport).add(operation)
      operation.waitUntilFinished()
    }
    #expect(codes.current == [.invalidArguments, .invalidArguments])
    #expect(transport.requests.isEmpty)
  }

  @available(*, deprecated)
  @Test("Marks: the IDs that are marked, and the errors of the others by ID")
  func marks() {
    let transport = ScriptedTransport { request, _ in
      guard let parsed = try? MarkNotificationsReadRequest(parsing: request.body ?? Data()) else {
        return .error(ServiceError(.badRequest, "not a request for marks"))
      }
      let items = parsed.notificationIDs.map {
        id -> Result<MarkNotificationsReadResponse.Item, FailedItem> in
        id != "missing"
          ? .success(.init(notificationID: id))
          : .failure(
            FailedItem(.notification(notificationID: id), ServiceError(.notFound, "not there")))
      }
      return .ok(MarkNotificationsReadResponse(notifications: items).body)
    }
    let container = CKContainer.scripted(transport)
    let outcome = Guarded<([CKNotification.ID]?, CKError?)>((nil, nil))
    func mark(_ ids: [String]?) {
      let operation = CKMarkNotificationsReadOperation()
      operation.notificationIDs = ids?.map { CKNotificationID($0) }
      operation.markNotificationsReadCompletionBlock = { ids, error in
        outcome.withLock { $0 = (ids, error as? CKError) }
      }
      container.add(operation)
      operation.waitUntilFinished()
    }
    mark(["a", "missing", "b"])
    #expect(outcome.current.0 == [CKNotificationID("a"), CKNotificationID("b")])
    #expect(outcome.current.1?.code == .partialFailure)
    let errors = outcome.current.1?.partialErrorsByItemID
    #expect(errors?.count == 1)
    #expect((errors?[CKNotificationID("missing")] as? CKError)?.code == .unknownItem)
    mark(["a"])
    #expect(outcome.current.0 == [CKNotificationID("a")])
    #expect(outcome.current.1 == nil)
    mark(nil)
    #expect(outcome.current.0 == [] && outcome.current.1 == nil)
    #expect(
      transport.requests.map(\.operation) == Array(repeating: "notifications/markRead", count: 2))
    let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
    #expect(operation.notificationIDs == [])
  }

  @available(*, deprecated)
  @Test("A badge is sent, and what the server says is told")
  func badge() throws {
    let transport = ScriptedTransport { request, index in
      index == 0
        ? .ok(request.body ?? Data()) : .error(ServiceError(.authenticationRequired, "who?"))
    }
    let container = CKContainer.scripted(transport)
    let codes = Guarded<[CKError.Code?]>([])
    for _ in 0..<2 {
      let operation = CKModifyBadgeOperation(badgeValue: 12)
      operation.modifyBadgeCompletionBlock = { codes.append(($0 as? CKError)?.code) }
      container.add(operation)
      operation.waitUntilFinished()
    }
    #expect(codes.current == [nil, .notAuthenticated])
    let body = try #require(transport.requests.first?.body)
    #expect(try BadgeRequest(parsing: body).badge == 12)
    #expect(transport.requests.first?.operation == "tokens/badge")
    #expect(CKModifyBadgeOperation().badgeValue == 0)
  }
}
