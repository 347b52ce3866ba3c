import CloudKitModel
import Foundation
import JSONCoding
import Testing
import WebServices

struct NotificationRequestTests {
  @Test("Requests and answers are read as they were written")
  func roundTrip() throws {
    for request in [
      NotificationChangesRequest(),
      NotificationChangesRequest(syncToken: "AB+/=", resultsLimit: 7),
    ] {
      #expect(try NotificationChangesRequest(parsing: request.body) == request)
    }
    let context = MessageContext(ownerNaming: .relative(to: "_user"))
    let response = NotificationChangesResponse(
      notifications: [
        NotificationLogItem(
          payload: ["aps": ["alert": "b"], "ck": ["nid": "n", "qry": ["sid": "s", "dbs": 1]]],
          fields: [
            "date": .timestamp(Timestamp(milliseconds: 1)), "data": .bytes(Data([1])),
            "list": .list(of: .double, [.double(1), .double(.infinity)]),
            "reference": .reference(Reference(recordName: "r", zoneID: ZoneID(zoneName: "Notes"))),
          ]),
        NotificationLogItem(
          readNotificationID: "m", container: "iCloud.c", environment: .production),
      ], syncToken: "T", moreComing: true)
    #expect(
      try NotificationChangesResponse(parsing: response.body(context: context)) == response)
    let marks = MarkNotificationsReadRequest(notificationIDs: ["a", "b"])
    #expect(try MarkNotificationsReadRequest(parsing: marks.body) == marks)
    let marked = MarkNotificationsReadResponse(notifications: [
      .success(.init(notificationID: "a")),
      .failure(FailedItem(.notification(notificationID: "b"), ServiceError(.notFound, "gone"))),
    ])
    #expect(try MarkNotificationsReadResponse(parsing: marked.body) == marked)
    #expect(try BadgeRequest(parsing: BadgeRequest(badge: 3).body).badge == 3)
  }

  @Test("An entry that was read is the common part of its payload and a mark")
  func wireForm() throws {
    let response = NotificationChangesResponse(
      notifications: [
        NotificationLogItem(
          readNotificationID: "m", container: "iCloud.c", environment: .development)
      ], syncToken: "T", moreComing: false)
    #expect(
      try JSONValue(parsing: response.body(context: MessageContext(ownerNaming: .explicit))) == [
        "notifications": [
          ["ck": ["ce": 2, "cid": "iCloud.c", "nid": "m", "aux": [:]], "read": true]
        ], "syncToken": "T", "moreComing": false,
      ])
  }

  @Test(
    "A broken request names what is wrong",
    arguments: [
      (#"{"resultsLimit":-1}"#, "resultsLimit: must not be negative"),
      (#"{"resultsLimit":"many"}"#, "resultsLimit: must be a whole number, not a string"),
      (#"{"syncToken":5}"#, "syncToken: must be a string, not a number"),
    ])
  func brokenChanges(body: String, expected: String) {
    #expect(
      reason { _ = try NotificationChangesRequest(parsing: Data(body.utf8)) } == expected)
  }

  @Test(
    "A broken list of marks names what is wrong",
    arguments: [
      ("{}", "'notifications' is missing"),
      (#"{"notifications":5}"#, "notifications: must be an array, not a number"),
      (#"{"notifications":["a"]}"#, "notifications[0]: must be an object, not a string"),
      (#"{"notifications":[{}]}"#, "notifications[0]: 'notificationID' is missing"),
    ])
  func brokenMarks(body: String, expected: String) {
    #expect(
      reason { _ = try MarkNotificationsReadRequest(parsing: Data(body.utf8)) } == expected)
  }

  @Test("More than 400 marks are too many")
  func tooMany() {
    let request = MarkNotificationsReadRequest(notificationIDs: (0...400).map(String.init))
    #expect(
      reason { _ = try MarkNotificationsReadRequest(parsing: request.body) }
        == "notifications: has 401 items; the limit is 400 per request")
  }

  @Test(
    "A badge is a number from 0 up",
    arguments: [
      ("{}", "'badge' is missing"),
      (#"{"badge":-1}"#, "badge: -1 must be between 0 and 2147483647"),
      (#"{"badge":9999999999}"#, "badge: 9999999999 must be between 0 and 2147483647"),
      (#"{"badge":1.5}"#, "badge: must be a whole number, not a number with a fraction"),
    ])
  func badge(body: String, expected: String) {
    #expect(reason { _ = try BadgeRequest(parsing: Data(body.utf8)) } == expected)
  }

  @Test(
    "A broken answer is refused",
    arguments: [
      #"{"syncToken":"T"}"#, #"{"notifications":[]}"#,
      #"{"notifications":[5],"syncToken":"T"}"#, #"{"notifications":[{}],"syncToken":"T"}"#,
    ])
  func brokenAnswer(body: String) {
    #expect(reason { _ = try NotificationChangesResponse(parsing: Data(body.utf8)) } != nil)
  }
}
