import Foundation
import HTTPService
import JSONCoding
import WebServices

@testable import DatabaseAPI

// Requests to a server, and both sides' readers of messages.
extension FuzzTarget {
  static let requests = [operations, wholeRequests, messages, uploads]

  /// Of the body of each: the members, and values of the kinds that stand in them.
  private static let words =
    [
      "operations", "operationType", "record", "records", "recordName", "recordType", "fields",
      "value", "type", "zoneID", "zoneName", "ownerRecordName", "recordChangeTag", "desiredKeys",
      "query", "filterBy", "comparator", "fieldName", "fieldValue", "systemFieldName", "sortBy",
      "ascending", "relativeLocation", "distance", "resultsLimit", "continuationMarker",
      "syncToken", "subscription", "subscriptions", "subscriptionID", "subscriptionType",
      "firesOn", "firesOnce", "notificationInfo", "alertBody", "desiredKeys", "shouldBadge",
      "collapseIdKey", "apnsEnvironment", "apnsToken", "clientId", "keys", "p256dh", "auth",
      "endpoint", "zones", "zone", "zoneWide", "atomic", "parent", "action", "reverse",
      "latitude", "longitude", "fileChecksum", "size", "receipt", "tokens", "requestID",
    ].map { "\"\($0)\":" } + [
      "\"create\"", "\"update\"", "\"forceUpdate\"", "\"replace\"", "\"delete\"", "\"EQUALS\"",
      "\"NEAR\"", "\"IN\"", "\"BEGINS_WITH\"", "\"CONTAINS_ANY_TOKENS\"", "\"LIST_CONTAINS\"",
      "\"NOT_EQUALS\"", "\"STRING_LIST\"", "\"INT64\"", "\"DOUBLE\"", "\"TIMESTAMP\"",
      "\"BYTES\"", "\"REFERENCE\"", "\"LOCATION\"", "\"ASSETID\"", "\"_defaultZone\"", "1e400",
      "9223372036854775807", "-9223372036854775808", "1.7976931348623157e308", "[]", "{}", "null",
    ]

  /// The operations that the first byte of a kept input selects, from `A` on. The server's other
  /// operations follow (``AttackedService/operationNames``).
  static let operationNames = [
    "private/records/modify", "public/records/modify", "private/records/lookup",
    "private/records/query", "public/records/query", "private/records/changes",
    "private/changes/database", "private/changes/zone", "private/zones/changes",
    "private/assets/upload", "private/assets/rereference", "private/zones/list",
    "private/zones/lookup", "private/zones/modify", "private/subscriptions/list",
    "private/subscriptions/lookup", "private/subscriptions/modify",
    "public/subscriptions/modify", "tokens/create", "tokens/register",
    "tokens/unregister", "tokens/badge",
    "notifications/changes", "notifications/markRead", "webPush/key", "webPush/register",
    "webPush/unregister", "webhooks/register", "webhooks/list", "webhooks/delete",
    "public/users/discover", "public/users/lookup/email", "public/users/lookup/id",
    "public/users/permissions", "shared/records/query", "shared/zones/list",
    "public/records/resolve", "server/limits",
  ]

  private static func choice<Element>(_ byte: UInt8?, of elements: [Element]) -> Element {
    elements[Int((byte ?? 65) &- 65) % elements.count]
  }

  /// An operation, and its body.
  private static let operations = FuzzTarget(
    "operations", longest: 2048, words: words,
    answering: { input in
      let service = try await AttackedServices.shared.service()
      let response = await service.answer(
        "POST", choice(input.first, of: service.operationNames), body: input.dropFirst().text)
      try response.check()
    })

  /// A request as a text: its line, header fields, an empty line, the body. `$ANNA`, `$ADMIN` and
  /// `$API` stand for a user's token, an admin key and an API token.
  private static let wholeRequests = FuzzTarget(
    "requests", longest: 2048,
    words: [
      "GET ", "POST ", "OPTIONS ", "HEAD ", "/database/1/", "/device/1/", "/admin/v1/", "/assets/",
      "/console/", "/sign-in", "/aps", "/health", AttackedService.container, "/development/",
      "/production/", "ckWebAuthToken=$ANNA", "ckAPIToken=$API", "Authorization: Bearer $ADMIN",
      "Range: bytes=", "Content-Type: multipart/form-data; boundary=", "X-Forwarded-For: ",
      "Origin: https://", "Cookie: ", "Accept: text/event-stream", "Last-Event-ID: ",
      "X-Apple-CloudKit-Request-KeyID: ", "X-Apple-CloudKit-Request-ISO8601Date: ",
      "X-Apple-CloudKit-Request-SignatureV1: ", "%00", "%2e%2e/", "../", "%ff", "&", "?", "\n\n",
    ],
    answering: { input in
      var lines = input.split(
        separator: 10, maxSplits: 32, omittingEmptySubsequences: false)[...]
      let line = lines.popFirst()?.text.split(separator: " ", maxSplits: 1) ?? []
      var headers: [(name: String, value: String)] = []
      while let field = lines.popFirst(), !field.isEmpty {
        let parts = field.text.split(
          separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { continue }
        headers.append((String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
      }
      let body = Data(lines.joined(separator: [10]))
      let service = try await AttackedServices.shared.service()
      let response = await service.answer(
        String(line.first ?? "GET"), String(line.count > 1 ? line[1] : "/"), headers, body)
      try response.check()
    })

  /// A function that reads a message and writes it again.
  private typealias Message = @Sendable (Data, MessageContext) throws -> Data

  private static let readers: [Message] = [
    { try ModifyRecordsRequest(parsing: $0, context: $1).body(context: $1) },
    { try LookupRecordsRequest(parsing: $0, context: $1).body(context: $1) },
    { try QueryRecordsRequest(parsing: $0, context: $1).body(context: $1) },
    { try RecordsResponse(parsing: $0, context: $1).body(context: $1) },
    { try RecordChangesRequest(parsing: $0, context: $1).body(context: $1) },
    { try ZoneChangesRequest(parsing: $0, context: $1).body(context: $1) },
    { try ModifyZonesRequest(parsing: $0, context: $1).body(context: $1) },
    { try LookupZonesRequest(parsing: $0, context: $1).body(context: $1) },
    { try ZonesResponse(parsing: $0, context: $1).body(context: $1) },
    { try ModifySubscriptionsRequest(parsing: $0, context: $1).body(context: $1) },
    { try LookupSubscriptionsRequest(parsing: $0, context: $1).body(context: $1) },
    { try SubscriptionsResponse(parsing: $0, context: $1).body(context: $1) },
    { try ResolveSharesRequest(parsing: $0, context: $1).body(context: $1) },
    { try SharesResponse(parsing: $0, context: $1).body(context: $1) },
    { try RequestAccessRequest(parsing: $0, context: $1).body(context: $1) },
    { try RequestAccessResponse(parsing: $0, context: $1).body(context: $1) },
  ]

  /// A reader of messages by its first byte; what it takes it must write so that it takes it again.
  private static let messages = FuzzTarget("messages", longest: 2048, words: words) { input in
    let reader = choice(input.first, of: readers)
    let context = MessageContext(
      ownerNaming: .relative(to: "_anna"), numbersAsStrings: input.count % 2 == 0)
    guard let written = read({ try reader(Data(input.dropFirst()), context) }) else { return }
    let again = try must("what was written is read: \(written.text)") {
      try reader(written, context)
    }
    try hold(again == written, "writing gives \(written.text), then \(again.text)")
  }

  /// The type and the body of an upload, and the ranges that are asked of a file.
  private static let uploads = FuzzTarget(
    "uploads", words: ["multipart/form-data; boundary=", "\r\n\r\n", "\r\n--", "bytes=", "-"],
    readsSafeTexts: true
  ) { input in
    let parts = input.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
    let body = Data(parts.count > 1 ? Array(parts[1]) : [])
    if let form = read({ try MultipartForm(contentType: parts[0].text) }) ?? nil,
      let content = read({ try form.contentRange(of: body) })
    {
      try hold(
        content.lowerBound >= 0 && content.upperBound <= body.count,
        "\(content) lies within \(body.count) bytes")
    }
    for size: Int64 in [0, 1, 1000, .max] {
      guard case .part(let range) = ByteRange.parse(parts[0].text, size: size) else { continue }
      try hold(
        !range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size,
        "\(range) lies within \(size) bytes")
    }
    let fields = HTTPRequest(
      method: "POST", target: parts[0].text,
      headers: [("Content-Type", "application/x-www-form-urlencoded")], body: body)
    _ = (fields.query, fields.formFields)
  }
}
