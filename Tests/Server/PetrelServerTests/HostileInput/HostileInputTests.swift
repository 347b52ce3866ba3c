import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

struct HostileInputTests {
  /// Operations that read a body.
  private static let operations = [
    "private/records/modify", "private/records/lookup", "private/records/query",
    "private/records/changes", "private/changes/database", "private/changes/zone",
    "private/zones/changes", "private/assets/upload", "private/assets/rereference",
    "private/zones/lookup", "private/zones/modify", "private/subscriptions/lookup",
    "private/subscriptions/modify", "tokens/create", "tokens/register", "tokens/badge",
    "notifications/changes", "notifications/markRead",
    "public/users/lookup/email", "public/users/lookup/id",
  ]

  private static func nested(_ open: String, _ close: String) -> Data {
    Data(
      (String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000))
        .utf8)
  }

  private static let bodies: [(what: String, body: Data)] = [
    ("arrays in arrays", nested("[", "]")),
    ("objects in objects", nested(#"{"operations":"#, "}")),
    ("no UTF-8", Data([0x7B, 0x22, 0xFF, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D])),
    ("a NUL", Data("{\"operations\": [\0]}".utf8)),
    ("a lone surrogate", Data(#"{"operations": "\ud800"}"#.utf8)),
    ("NaN", Data(#"{"operations": NaN}"#.utf8)),
    ("1e400", Data(#"{"operations": 1e400}"#.utf8)),
    (
      "5,000 digits", Data((#"{"operations": 1"# + String(repeating: "0", count: 5_000) + "}").utf8)
    ),
    ("text after the end", Data(#"{"operations": []} {}"#.utf8)),
    ("another encoding", Data([0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00])),
  ]

  @Test(
    "a body that no reader should take gets an error in the protocol's form", arguments: operations)
  func bodies(operation: String) async throws {
    try await withService { service in
      for (what, body) in Self.bodies {
        let answer = try await service.client.send(
          "POST", service.target(operation, as: service.alice), body: body)
        // What a member of another name is matters to nobody, but for its being JSON.
        guard answer.status != 200 else {
          #expect(["5,000 digits"].contains(what), "\(operation) took \(what)")
          continue
        }
        #expect(answer.failure == "400 BAD_REQUEST", "\(operation), \(what): \(answer.json)")
        #expect(!answer.reason.isEmpty && answer.reason.utf8.count < 2_000, "\(what)")
        #expect(answer.json["uuid"]?.string != nil)
      }
    }
  }

  @Test("numbers at the ends of what numbers can be")
  func numbers() async throws {
    try await withService { service in
      for (text, kept) in [
        ("9223372036854775807", JSONValue.int(.max)), ("-9223372036854775808", .int(.min)),
        ("-0", .int(0)), ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
        ("5e-324", .double(.leastNonzeroMagnitude)),
      ] {
        let name = "n\(text.count)\(text.hasPrefix("-"))"
        let answer = try await service.modify(
          Service.operation("create", name, #""a": {"value": \#(text)}"#, type: "T\(text.count)"))
        #expect(answer.outcomes == ["ok"], "\(text): \(answer.json)")
        let read = try await service.lookup(name)[0].field("a")
        #expect(read == kept || read?.double == kept.double, "\(text) is \(read?.text ?? "none")")
      }
      for text in [
        "1e400", "-1e400", "NaN", "Infinity", "1" + String(repeating: "0", count: 5_000), "0x10",
        "01", "1.", ".5", "+1", #"{"value": 1}"#,
      ] {
        let answer = try await service.modify(
          Service.operation("create", "bad", #""b": {"value": \#(text), "type": "INT64"}"#))
        let code = answer.status == 200 ? answer.outcomes[0] : answer.json.errorCode
        #expect(code == "BAD_REQUEST", "\(text.prefix(20)): \(answer.json)")
        #expect(try await service.lookup("bad").outcomes == ["NOT_FOUND"])
      }
    }
  }

  /// Names that would be something else in SQL, in a path, in a header field or in a log.
  private static let names = [
    #"'; DROP TABLE records; --"#, #"\" OR \"1\"=\"1"#, "x') UNION SELECT * FROM users --", "$1",
    "?1",
    ":name", "%' OR '1'='1", "a%b_c", "../../../etc/passwd", "..", "%2e%2e%2f", "/etc/passwd",
    #"C:\\windows"#, "a\u{202E}b", "e\u{301}", "\u{FEFF}", "a\\u0007b", "a\\r\\nX-Evil: 1", "*",
    "\\\\",
  ]

  @Test(
    "names that mean something elsewhere are names like others, or are refused", arguments: names)
  func harmfulNames(name: String) async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "kept", #""a": {"value": "v"}"#))
      /// Either it is done, or the name is what was wrong.
      func check(_ answer: Answer, _ what: String) -> Bool {
        let codes = answer.status == 200 ? answer.outcomes : [answer.json.errorCode ?? "-"]
        #expect(
          codes.allSatisfy {
            ["ok", "BAD_REQUEST", "BAD_CONTAINER", "NOT_FOUND", "ZONE_NOT_FOUND"].contains($0)
          },
          "\(what): \(answer.status) \(answer.json)")
        return codes == ["ok"]
      }
      if check(
        try await service.modify(Service.operation("create", name, #""a": {"value": "w"}"#)),
        "record")
      {
        let found = try await service.lookup(name)
        #expect(found.outcomes == ["ok"])
        #expect(try JSONValue(parsing: "\"\(name)\"").string == found[0].name)
      }
      if check(
        try await service.modify(
          Service.operation("create", "text", #""a": {"value": "\#(name)"}"#)), "value")
      {
        let query =
          #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": "\#(name)"}}]}}"#
        let found = try await service.post("public/records/query", query, as: service.alice)
        #expect(
          found.items.map(\.name) == ["text"], "the value finds its record alone: \(found.json)")
      }
      _ = check(
        try await service.modify(Service.operation("create", "f", #""\#(name)": {"value": 1}"#)),
        "field")
      _ = check(try await service.modify(Service.operation("create", "t", type: name)), "type")
      _ = check(
        try await service.post(
          "private/zones/modify",
          #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "\#(name)"}}}]}"#,
          as: service.alice), "zone")
      for query in [
        #"{"query": {"recordType": "\#(name)"}}"#,
        #"{"query": {"recordType": "Note", "sortBy": [{"fieldName": "\#(name)"}]}}"#,
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "fieldName": "\#(name)", "fieldValue": {"value": 1}}]}}"#,
        #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "\#(name)"}}"#,
        #"{"query": {"recordType": "Note"}, "continuationMarker": "\#(name)"}"#,
      ] {
        let answer = try await service.post("public/records/query", query, as: service.alice)
        #expect([200, 400, 404].contains(answer.status), "\(query): \(answer.json)")
      }
      let container = try await service.client.send(
        "POST",
        "/database/1/iCloud.\(Service.escaped(name))/development/public/records/query"
          + "?ckWebAuthToken=\(Service.escaped(service.alice.token))",
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect([200, 400, 404].contains(container.status), "container: \(container.json)")
      #expect(
        try await service.lookup("kept")[0].field("a") == "v", "nothing that was there is gone")
    }
  }

  @Test("names that are longer than names may be are refused, and not told at length")
  func longNames() async throws {
    try await withService { service in
      let long = String(repeating: "n", count: 100_000)
      for operation in [
        Service.operation("create", long),
        Service.operation("create", "a", #""\#(long)": {"value": 1}"#),
        Service.operation("create", "a", type: long),
        Service.operation("create", "a", zone: long),
      ] {
        let answer = try await service.modify(operation)
        let code = answer.status == 200 ? answer.outcomes[0] : answer.json.errorCode
        #expect(["BAD_REQUEST", "ZONE_NOT_FOUND"].contains(code))
        // The name itself stands in the item, for the client to know it by.
        let reason = answer.status == 200 ? answer[0].reason : answer.reason
        #expect(reason.utf8.count <= 4_000, "the reason: \(reason.prefix(200))")
      }
    }
  }

  @Test("texts with more than thirty marks in a row are refused where they are compared or hashed")
  func marks() async throws {
    let marks = "e" + String(repeating: "\u{301}\u{323}", count: 20)
    try await withService { service in
      let bodies = [
        (
          "private/records/lookup", #"{"records": [{"recordName": "\#(marks)"}]}"#,
          "records[0].recordName"
        ),
        (
          "private/records/lookup", #"{"records": [], "desiredKeys": ["\#(marks)"]}"#,
          "desiredKeys[0]"
        ),
        ("private/zones/lookup", #"{"zones": [{"zoneName": "\#(marks)"}]}"#, "zones[0].zoneName"),
        (
          "private/subscriptions/lookup", #"{"subscriptions": [{"subscriptionID": "\#(marks)"}]}"#,
          "subscriptions[0].subscriptionID"
        ),
        (
          "public/users/lookup/email", #"{"users": [{"emailAddress": "\#(marks)"}]}"#,
          "users[0].emailAddress"
        ),
      ]
      for (operation, body, place) in bodies {
        let answer = try await service.post(operation, body, as: service.alice)
        #expect(answer.failure == "400 BAD_REQUEST", "\(operation): \(answer.json)")
        #expect(answer.reason == "\(place): must not have more than 30 combining marks in a row")
      }
      let escaped = Service.escaped(marks)
      for target in ["/\(escaped)", "/console/?a=\(escaped)", "/aps?tok=\(escaped)"] {
        let answer = try await service.client.send("GET", target)
        #expect(answer.failure == "400 BAD_REQUEST", "\(target): \(answer.json)")
      }
      let headed = try await service.client.send(
        "POST", service.target("private/zones/list", as: service.alice),
        headers: "Origin: \(marks)\r\n")
      #expect(headed.reason.contains("a header field must not have more than 30"))
    }
  }

  @Test("a value may have as many marks as its owner likes, and is found by them")
  func markedValues() async throws {
    let marks = "e" + String(repeating: "\u{301}\u{323}", count: 2_000)
    try await withService { service in
      let saved = try await service.modify(
        Service.operation("create", "marked", #""a": {"value": "\#(marks)"}"#))
      #expect(saved.outcomes == ["ok"])
      // curl's content type for a body without another.
      let again = try await service.client.send(
        "POST", service.target("public/records/modify", as: service.alice),
        headers: "Content-Type: application/x-www-form-urlencoded\r\n",
        body: Data(
          #"{"operations": [\#(Service.operation("create", "other", #""b": {"value": "\#(marks)"}"#))]}"#
            .utf8))
      #expect(again.outcomes == ["ok"], "\(again.json)")
      #expect(
        try await service.lookup("marked")[0].field("a")?.string?.utf8.elementsEqual(marks.utf8)
          == true)
      for options in ["", #", "caseInsensitive": true"#, #", "diacriticInsensitive": true"#] {
        let query =
          #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": "\#(marks)"}\#(options)}]}}"#
        let found = try await service.post("public/records/query", query, as: service.alice)
        #expect(found.items.map(\.name) == ["marked"], "\(options): \(found.json)")
      }
    }
  }

  @Test(
    "paths to other files lead nowhere",
    arguments: [
      "/console/../petrel.sqlite", "/console/%2e%2e/%2e%2e/etc/passwd",
      "/console/..%2f..%2fetc/passwd",
      "/console//etc/passwd", "/console/%00", "/assets/1/../../petrel.sqlite",
      "/assets/1/..%2f..%2fpetrel.sqlite/file", "/assets/1/%2e%2e/petrel.sqlite",
      "/assets/-1/upload/..", "/assets/99999999999999999999/a/b", "/assets/1/upload/%2e%2e%2fx",
      "/assets/1//etc/passwd?expires=9999999999&signature=AA", "//etc/passwd",
      "/..;/admin/v1/users",
      "/%61dmin/v1/users", "/admin/v1/../v1/users", "/database/1/../../admin/v1/users",
    ])
  func paths(path: String) async throws {
    try await withService { service in
      for method in ["GET", "POST"] {
        let answer = try await service.client.send(method, path)
        #expect((400..<500).contains(answer.status), "\(method) \(path): \(answer.status)")
        #expect(answer.body.range(of: Data("SQLite format".utf8)) == nil)
        #expect(answer.body.range(of: Data("root:".utf8)) == nil)
      }
    }
  }

  @Test("line breaks in what an answer's header fields are made of stay in the text")
  func lineBreaks() async throws {
    try await withService { service in
      let evil = "%0d%0aX-Evil:%201%0d%0a%0d%0a"
      for (target, headers) in [
        ("/sign-in?request=\(evil)", ""), ("/console/sign-in?\(evil)", ""),
        ("/aps?token=\(evil)", ""),
        (service.target("public/users/caller", as: nil) + "ckAPIToken=\(evil)", ""),
        (
          service.target("public/users/caller", as: nil), "Origin: https://a.example\tX-Evil: 1\r\n"
        ),
        ("/assets/1/a/\(evil)?expires=\(evil)&signature=\(evil)", ""),
      ] {
        let answer = try await service.client.send("GET", target, headers: headers)
        #expect(answer.headers["x-evil"] == nil, "\(target)")
        #expect(answer.status < 500, "\(target): \(answer.status)")
      }
    }
  }

  @Test("of parameters that come twice the first counts, for all who look")
  func duplicates() async throws {
    try await withService { service in
      let token = Service.escaped(service.alice.token)
      let twice = try await service.client.send(
        "GET",
        service.target("public/users/caller", as: service.bob) + "&ckWebAuthToken=\(token)")
      #expect(twice.json["userRecordName"]?.string == service.bob.recordName)
    }
  }

  @Test("a continuation marker that somebody made up, were the secret known that seals it")
  func forgedContinuation() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation("create", "a"), Service.operation("create", "b"))
      let query = #"{"query": {"recordType": "Note"}, "resultsLimit": 1"#
      let page = try await service.post("public/records/query", query + "}", as: service.alice)
      let tokens = service.store.secrets.tokens
      let marker = try #require(
        page.json["continuationMarker"]?.string.flatMap { tokens.open($0, as: .continuation) })
      // The check sum behind it covers the query, which only the server has in its form; whoever has a
      // marker can go on from it, for FNV-1a is computed byte by byte both ways.
      let body = Array(marker.dropLast(8))
      for place in body.indices.dropFirst() {
        for byte: UInt8 in [0, 1, 2, 0x7F, 0x80, 0xFF] {
          var forged = body
          forged[place] = byte
          let text = try tokens.seal(
            forged + Self.digest(forged, like: body, marker.suffix(8)), as: .continuation)
          let answer = try await service.post(
            "public/records/query", query + #", "continuationMarker": "\#(text)"}"#,
            as: service.alice)
          #expect(
            answer.status == 200 || answer.failure == "400 BAD_REQUEST", "\(forged): \(answer.json)"
          )
        }
      }
    }
  }

  /// The check sum of another marker of the same query.
  private static func digest(
    _ forged: [UInt8], like body: [UInt8], _ known: ArraySlice<UInt8>
  ) -> [UInt8] {
    let prime: UInt64 = 0x100_0000_01B3
    // The prime's inverse modulo 2^64, by Newton's method.
    var inverse: UInt64 = prime
    for _ in 0..<6 { inverse = inverse &* (2 &- prime &* inverse) }
    var state = known.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    for byte in body.reversed() { state = (state &* inverse) ^ UInt64(byte) }
    for byte in forged { state = (state ^ UInt64(byte)) &* prime }
    return withUnsafeBytes(of: state.bigEndian) { Array($0) }
  }
}
