import Foundation
import HTTPService
import JSONCoding
import Testing

/// A request as it is sent, in whose target and header fields placeholders stand for secrets.
struct SentRequest: Sendable {
  var method: String
  var target: String
  var headers: [(name: String, value: String)] = []
  var body = Data()
}

extension AttackedService {
  func answer(_ request: SentRequest) async -> HTTPResponse {
    await answer(request.method, request.target, request.headers, request.body)
  }
}

/// The inputs whose growth ``GrowthTests`` measures.
enum GrowthCases {
  /// An operation with a body that it carries out.
  struct Operation: Sendable, CustomTestStringConvertible {
    var name: String
    var body: JSONValue

    var testDescription: String { name }
  }

  /// The operations of the corpus's seeds, and what these have not.
  static let operations: [Operation] = (seeds + richBodies).compactMap { name, text in
    (try? JSONValue(parsing: Data(text.utf8))).map { Operation(name: name, body: $0) }
  }

  private static let seeds: [(String, String)] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Corpora/operations")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix("seed-") }.sorted().compactMap { name in
      guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)),
        let first = bytes.first
      else { return nil }
      let operations = FuzzTarget.operationNames
      return (
        operations[Int(first &- 65) % operations.count],
        String(decoding: bytes.dropFirst(), as: UTF8.self)
      )
    }
  }()

  private static let richBodies: [(String, String)] = [
    (
      "private/records/query",
      #"{"query": {"recordType": "T", "filterBy": ["#
        + #"{"comparator": "CONTAINS_ALL_TOKENS", "fieldName": "b", "fieldValue": {"value": "words text"}}, "#
        + #"{"comparator": "BEGINS_WITH", "fieldName": "b", "fieldValue": {"value": "w"}, "caseInsensitive": true, "diacriticInsensitive": true}, "#
        + #"{"comparator": "IN", "fieldName": "a", "fieldValue": {"value": [1, 2], "type": "INT64_LIST"}}, "#
        + #"{"comparator": "LIST_CONTAINS_ANY", "fieldName": "c", "fieldValue": {"value": ["x"], "type": "STRING_LIST"}, "caseInsensitive": true}], "#
        + #""sortBy": [{"fieldName": "a"}, {"fieldName": "d", "relativeLocation": {"latitude": 1, "longitude": 2}}]}, "#
        + #""zoneID": {"zoneName": "_defaultZone", "ownerRecordName": "_a"}, "desiredKeys": ["a"], "continuationMarker": "AAAA"}"#
    ),
    (
      "private/subscriptions/modify",
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s", "subscriptionType": "query", "#
        + #""query": {"recordType": "T", "filterBy": [{"comparator": "EQUALS", "fieldName": "b", "fieldValue": {"value": "w"}, "caseInsensitive": true}, "#
        + #"{"comparator": "CONTAINS_ANY_TOKENS", "fieldValue": {"value": "w"}}]}, "firesOn": ["create"], "zoneID": {"zoneName": "_defaultZone"}, "#
        + #""notificationInfo": {"alertBody": "b", "alertLocalizationKey": "k", "alertLocalizationArgs": ["b"], "title": "t", "subtitle": "s", "soundName": "x", "#
        + #""category": "c", "collapseIDKey": "d", "additionalFields": ["b"], "shouldBadge": true}}}]}"#
    ),
    (
      "private/records/modify",
      #"{"operations": [{"operationType": "forceUpdate", "record": {"recordName": "r", "recordType": "T", "fields": "#
        + #"{"b": {"value": "text"}, "c": {"value": ["x", "y"], "type": "STRING_LIST"}, "l": {"value": [1.5], "type": "DOUBLE_LIST"}}}}], "#
        + #""desiredKeys": ["b"], "requestID": "q", "clientChangeTokenData": "AAAA"}"#
    ),
    (
      "private/records/modify",
      #"{"zoneID": {"zoneName": "z"}, "operations": [{"operationType": "forceUpdate", "record": {"recordName": "root", "recordType": "T", "fields": {}}}, "#
        + #"{"operationType": "forceUpdate", "record": {"recordName": "share", "recordType": "cloudkit.share", "forRecord": {"recordName": "root"}, "#
        + #""fields": {"cloudkit.title": {"value": "t"}}, "denyAccessRequests": false, "requesters": [{"requesterInformation": {"userRecordName": "_a"}}], "#
        + #""blocked": [{"blockedInformation": {"userRecordName": "_b"}}], "oneTimeStableUrlInfo": {"oneTimeLinks": [{"participantId": ["p"]}]}, "#
        + #""participants": [{"participantId": "p", "type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED"}, {"type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED", "#
        + #""userIdentity": {"nameComponents": {"givenName": "E"}, "lookupInfo": {"emailAddress": "erin@example.com"}}}]}}]}"#
    ),
    ("webhooks/register", #"{"url": "https://hooks.example.com/a?b=c", "secret": "s"}"#),
    (
      "public/records/accept",
      #"{"shortGUIDs": [{"value": "guid", "rootRecordDesiredKeys": ["a"]}, "guid"]}"#
    ),
    ("public/records/requestAccess", #"{"shortGUIDs": [{"value": "guid"}, "guid"]}"#),
  ]

  // MARK: The admin API

  struct AdminEndpoint: Sendable {
    var method: String
    var path: String
    /// A value for each argument.
    var arguments: [String: JSONValue]

    func request(_ argument: String, shape: HostileShape, size: Int) -> SentRequest {
      let path = "/admin/v1/" + path
      let key = [(name: "Authorization", value: "Bearer $ADMIN")]
      guard method == "GET" else {
        let body = GrownJSON(value: .object(arguments), place: [.member(argument)])
        return SentRequest(
          method: method, target: path, headers: key,
          body: Data(body.text(with: shape.json(size: size)).utf8))
      }
      let items = arguments.map { name, value in
        let text = name == argument ? shape.text(size: size) : value.string ?? value.text
        return name + "=" + GrowthCases.escaped(text)
      }
      return SentRequest(
        method: method, target: path + "?" + items.joined(separator: "&"), headers: key)
    }
  }

  /// The endpoints that the server's own description has, but for the streams, which have no end.
  static func adminEndpoints(of service: AttackedService) async throws -> [AdminEndpoint] {
    let answer = await service.answer(
      SentRequest(
        method: "GET", target: "/admin/v1/openapi.json",
        headers: [("Authorization", "Bearer $ADMIN")]))
    guard case .data(let body) = answer.body else { return [] }
    let paths = try #require(try JSONValue(parsing: body)["paths"]?.object)
    var endpoints: [AdminEndpoint] = []
    for (path, methods) in paths.sorted(by: { $0.key < $1.key }) {
      guard !path.hasSuffix("/events"), !path.hasSuffix("sign-out") else { continue }
      for (method, description) in methods.object ?? [:] where ["get", "post"].contains(method) {
        let query = description["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
        let schema = description["requestBody"]?["content"]?["application/json"]?["schema"]
        let members = schema?["properties"]?.object?.keys.map { $0 } ?? []
        let arguments = (query + members).map { ($0, values[$0] ?? "x") }
        endpoints.append(
          AdminEndpoint(
            method: method.uppercased(), path: String(path.drop { $0 == "/" }),
            arguments: Dictionary(arguments, uniquingKeysWith: { first, _ in first })))
      }
    }
    try #require(endpoints.count > 40)
    return endpoints
  }

  /// Values that lead far into the endpoints; any other argument is a text.
  private static let values: [String: JSONValue] = [
    "container": .string(AttackedService.container), "environment": "development",
    "database": "private", "user": "anna", "subscriber": "anna", "recordType": "T",
    "recordName": "r", "predicate": "a > 0", "limit": 10, "zone": "_defaultZone",
    "zoneName": "_defaultZone", "zoneID": ["zoneName": "_defaultZone"],
    "records": [["recordName": "r"]], "sortBy": ["a"], "parts": 1, "atomic": false,
    "everywhere": false, "kind": "apns", "event": "create", "before": 10,
    "record": ["recordName": "r", "recordType": "T", "fields": ["a": ["value": 1]]],
    "subscription": [
      "subscriptionID": "all", "subscriptionType": "query", "query": ["recordType": "T"],
      "firesOn": ["create"],
    ],
    "operations": [
      [
        "operationType": "forceUpdate",
        "record": ["recordName": "r", "recordType": "T", "fields": ["a": ["value": 1]]],
      ]
    ],
    "tokens": [["recordName": "r", "recordType": "T", "fieldName": "file"]],
  ]

  // MARK: Heads

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private static let query =
    "/database/1/\(AttackedService.container)/development/private/records/query"

  /// Requests with a text somewhere in their line or header fields.
  static let heads: [(what: String, request: @Sendable (String) -> SentRequest)] = [
    ("the path", { SentRequest(method: "POST", target: "/" + escaped($0)) }),
    ("the path as it is", { SentRequest(method: "GET", target: "/" + $0) }),
    (
      "a container",
      {
        SentRequest(
          method: "POST",
          target: "/database/1/iCloud.\(escaped($0))/development/public/records/query")
      }
    ),
    (
      "an operation",
      {
        SentRequest(
          method: "POST", target: "/database/1/iCloud.a/development/public/" + escaped($0))
      }
    ),
    ("a token", { SentRequest(method: "POST", target: query + "?ckWebAuthToken=" + escaped($0)) }),
    ("an API token", { SentRequest(method: "POST", target: query + "?ckAPIToken=" + escaped($0)) }),
    (
      "a device",
      {
        SentRequest(method: "POST", target: query + "?ckWebAuthToken=$ANNA&clientId=" + escaped($0))
      }
    ),
    ("the name of a parameter", { SentRequest(method: "POST", target: query + "?" + escaped($0)) }),
    ("the query as it is", { SentRequest(method: "POST", target: query + "?" + $0) }),
    ("a courier's token", { SentRequest(method: "GET", target: "/aps?tok=" + escaped($0)) }),
    ("an asset", { SentRequest(method: "GET", target: "/assets/1/" + escaped($0)) }),
    (
      "a range",
      { SentRequest(method: "GET", target: "/assets/1/a", headers: [("Range", "bytes=" + $0)]) }
    ),
    ("a cookie", { SentRequest(method: "GET", target: "/console/", headers: [("Cookie", $0)]) }),
    ("an origin", { SentRequest(method: "OPTIONS", target: query, headers: [("Origin", $0)]) }),
    (
      "an admin key",
      {
        SentRequest(
          method: "GET", target: "/admin/v1/users", headers: [("Authorization", "Bearer " + $0)])
      }
    ),
    (
      "a content type",
      {
        SentRequest(
          method: "POST", target: "/assets/1/upload/a",
          headers: [("Content-Type", "multipart/form-data; boundary=" + $0)])
      }
    ),
    (
      "a coding",
      { SentRequest(method: "POST", target: query, headers: [("Content-Encoding", $0)]) }
    ),
    (
      "a client's address",
      { SentRequest(method: "POST", target: query, headers: [("X-Forwarded-For", $0)]) }
    ),
    (
      "a key of a signature",
      {
        SentRequest(
          method: "POST", target: query,
          headers: [
            ("X-Apple-CloudKit-Request-KeyID", $0), ("X-Apple-CloudKit-Request-ISO8601Date", $0),
            ("X-Apple-CloudKit-Request-SignatureV1", $0),
          ])
      }
    ),
    (
      "a password",
      {
        SentRequest(
          method: "POST", target: "/sign-in",
          headers: [("Content-Type", "application/x-www-form-urlencoded")],
          body: Data("name=\(escaped($0))&password=\(escaped($0))&state=\(escaped($0))".utf8))
      }
    ),
    (
      "a form as it is",
      {
        SentRequest(
          method: "POST", target: "/sign-in",
          headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Data($0.utf8))
      }
    ),
    (
      "the way back from sign-in",
      {
        SentRequest(
          method: "GET",
          target: "/sign-in?redirect=\(escaped($0))&container=\(escaped($0))&state=\(escaped($0))")
      }
    ),
    (
      "an event's ID",
      {
        SentRequest(
          method: "GET", target: "/aps?tok=a", headers: [("Accept", $0), ("Last-Event-ID", $0)])
      }
    ),
  ]

  // MARK: Stored values

  /// Requests that store a value, and others that meet it.
  static func meetings(value: String) -> [(operation: String, body: String)] {
    func query(_ comparator: String, _ field: String, _ value: String) -> String {
      #"{"query": {"recordType": "S", "filterBy": [{"comparator": "\#(comparator)", "#
        + #""fieldName": "\#(field)", "fieldValue": {"value": \#(value)}, "#
        + #""caseInsensitive": true, "diacriticInsensitive": true}]}}"#
    }
    func subscription(_ name: String, _ comparator: String, _ options: String) -> String {
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "\#(name)", "#
        + #""subscriptionType": "query", "firesOn": ["create", "update", "delete"], "query": {"recordType": "S", "#
        + #""filterBy": [{"comparator": "\#(comparator)", "fieldName": "t", "fieldValue": {"value": "w"}\#(options)}]}, "#
        + #""notificationInfo": {"alertLocalizationKey": "k", "alertLocalizationArgs": ["t"], "desiredKeys": ["t"], "collapseIDKey": "t"}}}]}"#
    }
    func save(_ kind: String, _ text: String) -> String {
      #"{"operations": [{"operationType": "\#(kind)", "record": {"recordName": "s", "recordType": "S", "#
        + #""fields": {"t": {"value": \#(text)}, "l": {"value": [\#(text), "x"]}}}}]}"#
    }
    return [
      ("private/subscriptions/modify", subscription("e", "EQUALS", #", "caseInsensitive": true"#)),
      ("private/subscriptions/modify", subscription("w", "CONTAINS_ANY_TOKENS", "")),
      ("private/subscriptions/modify", subscription("n", "NOT_EQUALS", "")),
      ("private/records/modify", save("create", #""w""#)),
      ("private/records/modify", save("forceUpdate", value)),
      ("private/records/modify", save("forceUpdate", value)),
      ("private/records/query", query("EQUALS", "t", #""é""#)),
      ("private/records/query", query("BEGINS_WITH", "t", #""é""#)),
      ("private/records/query", query("EQUALS", "t", value)),
      ("private/records/query", query("CONTAINS_ALL_TOKENS", "t", value)),
      ("private/records/query", query("LIST_CONTAINS", "l", #""x""#)),
      ("private/records/query", query("NOT_EQUALS", "t", value)),
      (
        "private/records/query",
        #"{"query": {"recordType": "S", "sortBy": [{"fieldName": "t"}, {"fieldName": "t", "ascending": false}]}}"#
      ),
      ("notifications/changes", "{}"),
    ]
  }
}
