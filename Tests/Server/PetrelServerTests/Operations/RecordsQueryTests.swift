import CloudKitModel
import Foundation
import JSONCoding
import Testing

struct RecordsQueryTests {
  /// Notes `n0` … `n4` with a field of every kind that can be searched.
  private static func fill(_ service: Service) async throws {
    let operations = (0..<5).map { index in
      Service.operation(
        "create", "n\(index)",
        """
        "rank": {"value": \(index)}, "parity": {"value": \(index % 2)}, "weight": {"value": \(index).5},
        "title": {"value": "\(["apple", "apricot", "banana", "berry pie", "cherry"][index])"},
        "due": {"value": \(1_700_000_000_000 + index * 1000), "type": "TIMESTAMP"},
        "tags": {"value": ["t\(index)", "t\(index + 1)"]},
        "place": {"value": {"latitude": \(index), "longitude": 0}},
        "about": {"value": {"recordName": "r\(index % 2)", "action": "NONE"}, "type": "REFERENCE"}
        """)
    }
    let answer = try await service.post(
      "public/records/modify", #"{"operations": [\#(operations.joined(separator: ","))]}"#,
      as: service.alice)
    try #require(answer.outcomes.allSatisfy { $0 == "ok" }, "\(answer.json)")
  }

  private static func query(
    _ service: Service, filters: String = "", sorts: String = "", more: String = "",
    in database: String = "public", as user: TestUser? = nil
  ) async throws -> Answer {
    try await service.post(
      "\(database)/records/query",
      #"{"query": {"recordType": "Note", "filterBy": [\#(filters)], "sortBy": [\#(sorts)]}\#(more)}"#,
      as: user ?? service.alice)
  }

  @Test("a record type that the schema does not have is NOT_FOUND, with and without filters")
  func unknownType() async throws {
    try await withService { service in
      let filter =
        #""comparator": "EQUALS", "fieldName": "rank", "fieldValue": {"value": 2}"#
      for database in ["public", "private"] {
        for filters in ["", "{\(filter)}"] {
          let answer = try await Self.query(service, filters: filters, in: database)
          #expect(answer.status == 404)
          #expect(answer.json["serverErrorCode"]?.string == "NOT_FOUND")
          #expect(
            answer.json["reason"]?.string?.hasPrefix("Did not find record type: Note.") == true)
        }
      }
      try await Self.fill(service)
      #expect(try await Self.query(service, in: "private").status == 200)
    }
  }

  @Test(
    "an answer without records hints at the names that the schema does not have, in development")
  func hints() async throws {
    try await withService { service in
      try await Self.fill(service)
      func filter(_ field: String, _ rank: Int) -> String {
        #"{"comparator": "EQUALS", "fieldName": "\#(field)", "fieldValue": {"value": \#(rank)}}"#
      }
      let misspelt = try await Self.query(service, filters: filter("rnak", 2))
      #expect(misspelt.status == 200)
      #expect(
        misspelt.json["hints"]?.array?.compactMap(\.string) == [
          "record type 'Note' does not have the field 'rnak'; did you mean 'rank'?"
        ], "\(misspelt.json)")
      for known in [filter("rank", 2), filter("rank", 99_999), ""] {
        let answer = try await Self.query(service, filters: known)
        #expect(answer.status == 200 && answer.json["hints"] == nil, "\(answer.json)")
      }
      let type = try await service.post(
        "public/records/query", #"{"query": {"recordType": "Noet"}}"#, as: service.alice)
      #expect(type.status == 404)
      #expect(
        type.json["reason"]?.string?.hasSuffix("; did you mean 'Note'?") == true, "\(type.json)")
    }
  }

  @Test("a filter with a date out of range is BAD_REQUEST")
  func dateOutOfRange() async throws {
    try await withService { service in
      try await Self.fill(service)
      let answer = try await Self.query(
        service,
        filters: #"{"comparator": "LESS_THAN", "fieldName": "due", "#
          + #""fieldValue": {"value": 8640000000000001, "type": "TIMESTAMP"}}"#)
      #expect(answer.status == 400)
      #expect(answer.json["reason"]?.string?.contains("out of range") == true, "\(answer.json)")
    }
  }

  @Test("names take letters of every script, and composed and decomposed letters are one name")
  func names() async throws {
    try await withService { service in
      let names = ["caf\u{E9}", "\u{65E5}\u{8A18}", "\u{1F33F}"]
      let operations = names.map { Service.operation("create", $0, #""rank": {"value": 1}"#) }
      let saved = try await service.post(
        "public/records/modify", #"{"operations": [\#(operations.joined(separator: ","))]}"#,
        as: service.alice)
      #expect(saved.outcomes == ["ok", "ok", "ok"], "\(saved.json)")
      let again = try await service.post(
        "public/records/modify",
        #"{"operations": [\#(Service.operation("create", "cafe\u{301}"))]}"#, as: service.alice)
      #expect(again.outcomes == ["EXISTS"], "\(again.json)")
      for (comparator, value) in [
        ("EQUALS", #""cafe\u0301""#), ("IN", #"["cafe\u0301"]"#), ("BEGINS_WITH", #""cafe\u0301""#),
        ("EQUALS", #"{"recordName": "cafe\u0301"}"#),
      ] {
        let answer = try await Self.query(
          service,
          filters: #"{"comparator": "\#(comparator)", "fieldName": "___recordID", "#
            + #""fieldValue": {"value": \#(value)}}"#)
        #expect(answer.json["records"]?.array?.count == 1, "\(comparator): \(answer.json)")
      }
      let found = try await service.post(
        "public/records/lookup", #"{"records": ["\#("cafe\u{301}")", "\#(names[1])"]}"#,
        as: service.alice)
      #expect(found.outcomes == ["ok", "ok"], "\(found.json)")
    }
  }

  /// Each comparator with what it finds among the five notes.
  static let comparisons: [(filter: String, found: [Int])] = [
    (#""comparator": "EQUALS", "fieldName": "rank", "fieldValue": {"value": 2}"#, [2]),
    (
      #""comparator": "NOT_EQUALS", "fieldName": "rank", "fieldValue": {"value": 2}"#, [0, 1, 3, 4]
    ),
    (#""comparator": "LESS_THAN", "fieldName": "rank", "fieldValue": {"value": 2}"#, [0, 1]),
    (
      #""comparator": "LESS_THAN_OR_EQUALS", "fieldName": "weight", "fieldValue": {"value": 2.5}"#,
      [0, 1, 2]
    ),
    (
      #""comparator": "GREATER_THAN", "fieldName": "due", "#
        + #""fieldValue": {"value": 1700000002000, "type": "TIMESTAMP"}"#, [3, 4]
    ),
    (
      #""comparator": "GREATER_THAN_OR_EQUALS", "fieldName": "title", "#
        + #""fieldValue": {"value": "banana"}"#, [2, 3, 4]
    ),
    (
      #""comparator": "NEAR", "fieldName": "place", "distance": 120000, "#
        + #""fieldValue": {"value": {"latitude": 1, "longitude": 0}}"#, [0, 1, 2]
    ),
    (
      #""comparator": "CONTAINS_ALL_TOKENS", "fieldName": "title", "#
        + #""fieldValue": {"value": "pie berry"}"#, [3]
    ),
    (#""comparator": "CONTAINS_ANY_TOKENS", "fieldValue": {"value": "pie cherry"}"#, [3, 4]),
    (
      #""comparator": "IN", "fieldName": "rank", "#
        + #""fieldValue": {"value": [1, 3, 9], "type": "INT64_LIST"}"#, [1, 3]
    ),
    (
      #""comparator": "NOT_IN", "fieldName": "title", "#
        + #""fieldValue": {"value": ["apple", "cherry"], "type": "STRING_LIST"}"#, [1, 2, 3]
    ),
    (
      #""comparator": "LIST_CONTAINS", "fieldName": "tags", "fieldValue": {"value": "t2"}"#, [1, 2]
    ),
    (
      #""comparator": "NOT_LIST_CONTAINS", "fieldName": "tags", "fieldValue": {"value": "t2"}"#,
      [0, 3, 4]
    ),
    (
      #""comparator": "LIST_CONTAINS_ALL", "fieldName": "tags", "#
        + #""fieldValue": {"value": ["t2", "t3"]}"#, [2]
    ),
    (
      #""comparator": "NOT_LIST_CONTAINS_ALL", "fieldName": "tags", "#
        + #""fieldValue": {"value": ["t2", "t3"]}"#, [0, 1, 3, 4]
    ),
    (
      #""comparator": "LIST_CONTAINS_ANY", "fieldName": "tags", "#
        + #""fieldValue": {"value": ["t0", "t5"]}"#, [0, 4]
    ),
    (
      #""comparator": "NOT_LIST_CONTAINS_ANY", "fieldName": "tags", "#
        + #""fieldValue": {"value": ["t0", "t5"]}"#, [1, 2, 3]
    ),
    (#""comparator": "BEGINS_WITH", "fieldName": "title", "fieldValue": {"value": "ap"}"#, [0, 1]),
    (
      #""comparator": "NOT_BEGINS_WITH", "fieldName": "title", "fieldValue": {"value": "ap"}"#,
      [2, 3, 4]
    ),
    (
      #""comparator": "LIST_MEMBER_BEGINS_WITH", "fieldName": "tags", "#
        + #""fieldValue": {"value": "t5"}"#, [4]
    ),
    (
      #""comparator": "NOT_LIST_MEMBER_BEGINS_WITH", "fieldName": "tags", "#
        + #""fieldValue": {"value": "t5"}"#, [0, 1, 2, 3]
    ),
    (
      #""comparator": "EQUALS", "fieldName": "about", "#
        + #""fieldValue": {"value": {"recordName": "r1"}, "type": "REFERENCE"}"#, [1, 3]
    ),
    (
      #""comparator": "EQUALS", "systemFieldName": "recordName", "#
        + #""fieldValue": {"value": "n3"}"#, [3]
    ),
    (
      #""comparator": "EQUALS", "fieldName": "___recordID", "#
        + #""fieldValue": {"value": {"recordName": "n3"}, "type": "REFERENCE"}"#, [3]
    ),
  ]

  @Test("every comparator finds what it says")
  func comparators() async throws {
    try await withService { service in
      try await Self.fill(service)
      for (filter, found) in Self.comparisons {
        let answer = try await Self.query(service, filters: "{\(filter)}")
        #expect(answer.status == 200, "\(filter): \(answer.json)")
        #expect(answer.items.map(\.name).sorted() == found.map { "n\($0)" }, "\(filter)")
      }
      let tested = Set(
        Self.comparisons.map { $0.filter.components(separatedBy: "\"")[3] })
      #expect(tested == Set(Comparator.allCases.map(\.rawValue)), "a comparator is not tested")
    }
  }

  @Test("all filters of a query must hold")
  func conjunction() async throws {
    try await withService { service in
      try await Self.fill(service)
      let answer = try await Self.query(
        service,
        filters: Self.comparisons[1].filter.wrapped + "," + Self.comparisons[2].filter.wrapped)
      #expect(answer.items.map(\.name).sorted() == ["n0", "n1"])
    }
  }

  @Test("results come in the order of the sort keys")
  func sorts() async throws {
    try await withService { service in
      try await Self.fill(service)
      for (sort, order) in [
        (#"{"fieldName": "title", "ascending": false}"#, [4, 3, 2, 1, 0]),
        (#"{"fieldName": "rank"}"#, [0, 1, 2, 3, 4]),
        (#"{"systemFieldName": "recordName", "ascending": false}"#, [4, 3, 2, 1, 0]),
        (#"{"fieldName": "parity"}, {"fieldName": "rank", "ascending": false}"#, [4, 2, 0, 3, 1]),
        (
          #"{"fieldName": "place", "relativeLocation": {"latitude": 2.2, "longitude": 0}}"#,
          [2, 3, 1, 4, 0]
        ),
      ] {
        let answer = try await Self.query(service, sorts: sort)
        #expect(answer.items.map(\.name) == order.map { "n\($0)" }, "\(sort): \(answer.json)")
      }
    }
  }

  @Test(
    "pages follow one another without a gap or a repeat",
    arguments: ["", #"{"fieldName": "rank"}"#])
  func pages(sort: String) async throws {
    try await withService { service in
      try await Self.fill(service)
      var found: [String] = []
      var marker = ""
      var pages = 0
      repeat {
        let answer = try await Self.query(
          service, sorts: sort, more: #", "resultsLimit": 2\#(marker)"#)
        #expect(answer.items.count <= 2)
        found += answer.items.map(\.name)
        pages += 1
        marker =
          answer.json["continuationMarker"]?.string.map {
            #", "continuationMarker": "\#($0)""#
          } ?? ""
      } while !marker.isEmpty && pages < 10
      #expect(found.sorted() == ["n0", "n1", "n2", "n3", "n4"])
      #expect(pages == 3)
    }
  }

  @Test("an answer holds 200 records at most, whatever limit is asked for")
  func limitsPages() async throws {
    try await withService { service in
      let operations = (0..<201).map { Service.operation("create", "m\($0)") }
      _ = try await service.post(
        "public/records/modify", #"{"operations": [\#(operations.joined(separator: ","))]}"#,
        as: service.alice)
      for more in ["", #", "resultsLimit": 0"#, #", "resultsLimit": 1000"#] {
        let answer = try await Self.query(service, more: more)
        #expect(answer.items.count == 200)
        #expect(answer.json["continuationMarker"]?.string != nil)
      }
    }
  }

  @Test("a query searches the default zone, one zone, or with zoneWide all of them")
  func zones() async throws {
    try await withService { service in
      try await service.makeZone("Z")
      _ = try await service.modify(
        Service.operation("create", "d"), Service.operation("create", "z", zone: "Z"),
        in: "private")
      for (more, found) in [
        ("", ["d"]), (#", "zoneID": {"zoneName": "Z"}"#, ["z"]),
        (#", "zoneWide": true"#, ["d", "z"]),
        (#", "zoneWide": true, "zoneID": {"zoneName": "Z"}"#, ["z"]),
      ] {
        let answer = try await Self.query(service, more: more, in: "private")
        #expect(answer.items.map(\.name).sorted() == found, "\(more): \(answer.json)")
      }
    }
  }

  @Test("anybody may read the public database, also without a user")
  func anonymousReads() async throws {
    try await withService { service in
      try await Self.fill(service)
      let query = try await service.post(
        "public/records/query", #"{"query": {"recordType": "Note"}}"#, as: nil)
      #expect(query.items.count == 5)
      let lookup = try await service.post(
        "public/records/lookup", #"{"records": [{"recordName": "n1"}]}"#, as: nil)
      #expect(lookup.outcomes == ["ok"])
      #expect(try await service.lookup("n1", as: service.bob).outcomes == ["ok"])
    }
  }

  @Test("desiredKeys and numbersAsStrings shape queried records")
  func shapes() async throws {
    try await withService { service in
      try await Self.fill(service)
      let answer = try await Self.query(
        service, filters: Self.comparisons[0].filter.wrapped,
        more: #", "desiredKeys": ["rank"], "numbersAsStrings": true"#)
      #expect(answer[0]["fields"] == ["rank": ["value": "2", "type": "INT64"]], "\(answer.json)")
    }
  }

  @Test("lookup answers each record in its place")
  func lookupOrder() async throws {
    try await withService { service in
      try await Self.fill(service)
      let answer = try await service.lookup("n3", "none", "n1", more: #", "desiredKeys": ["rank"]"#)
      #expect(answer.items.map(\.name) == ["n3", "none", "n1"])
      #expect(answer.outcomes == ["ok", "NOT_FOUND", "ok"])
      #expect(answer[1].reason.contains("'none in _defaultZone'"))
      #expect(answer[0]["fields"]?.object?.keys.sorted() == ["rank"])
      let own = try await service.post(
        "public/records/lookup",
        #"{"records": [{"recordName": "n1", "desiredKeys": ["title"]}, {"recordName": "n2"}]}"#,
        as: service.alice)
      #expect(own[0]["fields"]?.object?.keys.sorted() == ["title"])
      #expect(own[1]["fields"]?.object?.count == 8)
    }
  }

  @Test("lookup in a zone that does not exist names the zone")
  func lookupInUnknownZone() async throws {
    try await withService { service in
      let answer = try await service.lookup("n", in: "private", zone: "Nowhere")
      #expect(answer.outcomes == ["ZONE_NOT_FOUND"])
      #expect(answer[0].reason.contains("'Nowhere'"))
    }
  }
}

extension String {
  fileprivate var wrapped: String { "{\(self)}" }
}
