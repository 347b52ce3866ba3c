import Cryptography
import Foundation
import JSONCoding
import PythonPrograms
import RepositoryFiles
import Testing
import Waiting

@testable import AdminAPI
@testable import PetrelServer

/// Holds what the admin API says of itself to what it does.
struct AdminDescriptionTests {
  private static let place: [String: JSONValue] = ["container": .string(Service.container)]

  private struct Operation {
    var method: String
    var path: String
    var json: JSONValue

    var name: String { "\(method) \(path)" }

    /// The schemas of the arguments, by name, and which of them have to be there.
    var arguments: (schemas: [String: JSONValue], needed: Set<String>) {
      if method == "GET" {
        let parameters = json["parameters"]?.array ?? []
        return (
          Dictionary(
            uniqueKeysWithValues: parameters.map {
              ($0["name"]?.string ?? "", $0["schema"] ?? .null)
            }),
          Set(parameters.filter { $0["required"] == true }.compactMap { $0["name"]?.string })
        )
      }
      let body = json["requestBody"]?["content"]?["application/json"]?["schema"] ?? .null
      return (
        body["properties"]?.object ?? [:],
        Set((body["required"]?.array ?? []).compactMap(\.string))
      )
    }

    /// The shape of the answer; nil for a stream.
    var answer: JSONValue? {
      json["responses"]?["200"]?["content"]?["application/json"]?["schema"]
    }
  }

  private func description(of service: Service, _ key: String) async throws -> JSONValue {
    let answer = try await service.adminGet("openapi.json", key: key)
    try #require(answer.status == 200, "\(answer.json)")
    return answer.json
  }

  private func operations(in description: JSONValue) -> [Operation] {
    (description["paths"]?.object ?? [:]).flatMap { path, methods in
      (methods.object ?? [:]).map {
        Operation(method: $0.key.uppercased(), path: String(path.dropFirst()), json: $0.value)
      }
    }.sorted { $0.name < $1.name }
  }

  private func send(
    _ operation: Operation, _ arguments: [String: JSONValue], to service: Service, _ key: String
  ) async throws -> Answer {
    guard operation.method == "GET" else {
      return try await service.adminPost(operation.path, .object(arguments), key: key)
    }
    let query = arguments.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(Service.escaped(value.string ?? value.text))"
    }
    return try await service.adminGet(
      operation.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")), key: key)
  }

  @Test("is valid OpenAPI 3.1", .enabled(if: Python.isInstalled, "no Python"))
  func isValid() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let file = service.directory + "/openapi.json"
      let description = try await description(of: service, key)
      try Data(description.text.utf8).write(to: URL(fileURLWithPath: file))
      let version = try Python.run(
        """
        import json, sys
        from openapi_spec_validator import OpenAPIV31SpecValidator
        description = json.load(open(sys.argv[1]))
        OpenAPIV31SpecValidator(description).validate()
        print(description["openapi"])
        """, file)
      #expect(version == "3.1.0")
    }
  }

  @Test("has a line for everything, and every argument is explained")
  func isWhole() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let operations = operations(in: try await description(of: service, key))
      #expect(operations.count >= 30)
      for operation in operations {
        #expect(operation.json["summary"]?.string?.isEmpty == false, "\(operation.name)")
        #expect(operation.answer != true, "\(operation.name) does not say what it answers")
        let described =
          operation.method == "GET"
          ? (operation.json["parameters"]?.array ?? []).map { $0["description"]?.string }
          : operation.arguments.schemas.values.map { $0["description"]?.string }
        #expect(described.allSatisfy { $0?.isEmpty == false }, "\(operation.name)")
      }
    }
  }

  @Test("has the endpoints of docs/reference/admin-api.md, with their arguments, and no others")
  func manual() async throws {
    var documented: [String: Set<String>] = [:]
    for line in try RepositoryFile.text("docs/reference/admin-api.md").split(separator: "\n") {
      let cells = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
      guard cells.count > 2,
        let name = cells[1].firstMatch(of: /`((?:GET|POST) [a-z\/.-]+)`/)?.1
      else { continue }
      var arguments = Set(cells[2].matches(of: /`([A-Za-z]+)`/).map { String($0.1) })
      if cells[2].contains("*database*") {
        arguments.formUnion(["container", "environment", "database", "user"])
      }
      if cells[2].contains("a page") { arguments.formUnion(["limit", "continuation"]) }
      documented[String(name)] = arguments
    }
    try await withService { service in
      let key = try await service.addAdminKey()
      let operations = operations(in: try await description(of: service, key))
      #expect(Set(documented.keys) == Set(operations.map(\.name)))
      let commands = AdminEndpoint.all.map { "\($0.method.rawValue) \($0.path)" }
      #expect(
        commands.sorted()
          == operations.map(\.name).filter {
            !["GET openapi.json", "GET session", "POST session/sign-out"].contains($0)
          }, "what commands are made from is what the server answers")
      for operation in operations {
        #expect(
          documented[operation.name] == Set(operation.arguments.schemas.keys),
          "\(operation.name)")
      }
    }
  }

  @Test("what it says of arguments is what is taken")
  func arguments() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for operation in operations(in: try await description(of: service, key)) {
        let (schemas, needed) = operation.arguments
        func refusal(_ arguments: [String: JSONValue]) async throws -> String {
          let answer = try await send(operation, arguments, to: service, key)
          return answer.status == 400 ? answer.reason : "\(answer.status): \(answer.json)"
        }
        // Something that fits for each that has to be there.
        let fitting = schemas.filter { needed.contains($0.key) }.mapValues { schema in
          switch (schema["type"]?.string, schema["enum"]?.array?.first) {
          case (_, let word?): word
          case ("array", _): JSONValue.array([])
          case ("object", _): JSONValue.object([:])
          case ("integer", _): JSONValue.int(1)
          default: JSONValue.string("iCloud.x")
          }
        }
        for name in needed {
          let reason = try await refusal(fitting.filter { $0.key != name })
          #expect(reason.hasSuffix("'\(name)' is missing"), "\(operation.name): \(reason)")
        }
        #expect(
          try await refusal(fitting.merging(["colour": "red"]) { $1 })
            .contains("'colour' is not known here"), "\(operation.name)")
        for (name, schema) in schemas {
          let wrong: JSONValue?
          switch (schema["type"]?.string, schema["maximum"]?.int) {
          case ("integer", _?): wrong = .int((schema["minimum"]?.int ?? 0) - 1)
          case ("boolean", _): wrong = "maybe"
          case ("string", _) where schema["enum"] != nil: wrong = "no-such-word"
          // In a query everything is text.
          case ("string", _): wrong = operation.method == "GET" ? nil : 7
          default: wrong = nil
          }
          guard let wrong else { continue }
          let reason = try await refusal(fitting.merging([name: wrong]) { $1 })
          #expect(reason.contains("'\(name)' must be"), "\(operation.name): \(reason)")
        }
      }
    }
  }

  /// Returns a request for each operation, in an order in which each has data to return. A stream
  /// and the end of a browser's session are left out.
  private func requests(_ service: Service) throws -> [(String, [String: JSONValue])] {
    let place = Self.place
    func at(_ members: [String: JSONValue]) -> [String: JSONValue] {
      place.merging(members) { $1 }
    }
    let subscription: JSONValue = [
      "subscriptionID": "new", "subscriptionType": "query", "firesOn": ["create"],
      "zoneWide": true, "query": ["recordType": "Note"],
    ]
    // The type has what is saved and watched before and after.
    let schema: JSONValue = """
      DEFINE SCHEMA
      CREATE ROLE Editor;
      RECORD TYPE Note (
        photo ASSET, title STRING QUERYABLE SEARCHABLE SORTABLE,
        "___recordID" REFERENCE QUERYABLE);
      """
    let notes: [String: JSONValue] = at(["owner": "alice", "zone": "Notes"])
    let shared: [String: JSONValue] = notes.merging(["share": "cloudkit.zoneshare"]) { $1 }
    let share: JSONValue = [
      "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
      "zoneID": ["zoneName": "Notes"],
      "participants": [
        [
          "type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
          "userIdentity": ["lookupInfo": ["emailAddress": "eve@example.com"]],
        ]
      ],
    ]
    let record: JSONValue = [
      "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "Bread"]],
    ]
    return [
      ("GET openapi.json", [:]), ("GET session", [:]), ("GET containers", [:]),
      ("GET databases", at(["environment": "development", "limit": 1])),
      ("GET zones", at(["database": "private", "user": "alice"])),
      (
        "POST zones/modify",
        at([
          "database": "private", "user": "alice",
          "operations": [
            ["operationType": "create", "zone": ["zoneID": ["zoneName": "Notes"]]]
          ],
        ])
      ),
      (
        "POST records/modify",
        at([
          "database": "private", "user": "alice",
          "operations": [["operationType": "create", "record": share]],
        ])
      ),
      ("GET shares", at(["owner": "alice", "limit": 1])), ("GET shares/show", shared),
      ("GET records/readers", notes.merging(["recordName": "cloudkit.zoneshare"]) { $1 }),
      ("POST shares/new-link", shared),
      ("POST shares/remove", shared.merging(["participant": "eve@example.com"]) { $1 }),
      ("POST shares/end", shared),
      (
        "POST records/modify",
        at([
          "atomic": true,
          "operations": [["operationType": "create", "record": record]],
        ])
      ),
      (
        "POST records/query",
        at(["recordType": "Note", "predicate": "title == \"Bread\"", "sortBy": ["-title"]])
      ),
      ("POST records/lookup", at(["records": [["recordName": "B"], ["recordName": "none"]]])),
      (
        "POST assets/upload",
        at([
          "tokens": [["recordName": "B", "recordType": "Note", "fieldName": "photo"]]
        ])
      ),
      ("GET records/changes", at(["database": "private", "user": "alice"])),
      ("GET schema", at([:])), ("GET schema/differences", at([:])),
      ("GET schema/index-work", [:]), ("POST schema/validate", ["text": schema]),
      ("POST schema/validate", at(["text": schema])),
      ("POST schema/import", at(["text": schema])), ("POST schema/deploy", at([:])),
      ("POST roles/grant", at(["role": "Editor", "user": "bob"])), ("GET roles", at([:])),
      ("POST roles/revoke", at(["role": "Editor", "user": "bob"])),
      ("GET subscriptions", at(["recordType": "Note", "limit": 1])),
      (
        "POST subscriptions/save",
        at(["subscriber": "bob", "subscription": subscription, "predicate": "title == \"x\""])
      ),
      ("POST subscriptions/delete", at(["subscriber": "bob", "subscriptionID": "new"])),
      ("GET users", ["text": "a", "limit": 1]), ("GET users/show", ["user": "alice"]),
      (
        "POST users/add",
        [
          "name": "eva", "password": "correct horse", "emailAddress": "eva@example.com",
          "phoneNumber": "+4930123", "givenName": "Eva", "middleName": "M.", "familyName": "Berg",
          "nickname": "E", "namePrefix": "Dr.", "nameSuffix": "Jr.", "lifetime": 60,
        ]
      ),
      ("POST users/password", ["user": "eva", "password": "battery staple"]),
      ("POST users/add-token", ["user": "eva", "lifetime": 60]),
      ("POST users/sign-out", ["user": "bob", "everywhere": false]), ("GET devices", [:]),
      ("GET users/holdings", ["user": "alice"]),
      ("GET users/public-records", at(["user": "alice", "limit": 1])),
      ("GET users/notifications", at(["user": "alice", "limit": 1])),
      ("GET users/deletions", [:]),
      ("POST users/delete", ["user": "eva", "publicRecords": "keep"]),
      ("GET pushes", at([:])), ("GET overview", [:]),
      ("GET explain/record", at(["recordName": "A"])),
      ("GET explain/subscription", at(["subscriber": "alice", "subscriptionID": "all"])),
      ("POST explain/dry-run/record", at(["record": record, "event": "create"])),
      ("POST explain/dry-run/subscription", at(["subscription": subscription])),
      ("POST devices/delete", ["kind": "apns", "token": .string(Self.token)]),
      (
        "POST keys/add-api-token",
        at(["name": "web", "origins": ["https://a.example"], "redirect": "https://a.example/"])
      ),
      (
        "POST keys/add-server-key",
        at(["name": "feed", "publicKey": .string(try ES256PrivateKey().publicKey.pem)])
      ),
      ("POST keys/add-admin-key", ["label": "other"]), ("GET keys", [:]),
    ]
  }

  /// Values that are right nowhere, or nearly nowhere.
  private static let wrongValues: [JSONValue] = [
    .null, true, -1, .int(.max), .double(1e300), "", "no such", "a\u{0}b", "x.y[0]", [], [7], [[]],
    [:], ["type": "x"], .string(String(repeating: "e\u{301}", count: 300)),
  ]

  /// The value, with each of its parts in turn replaced by each wrong value, and left out.
  private static func distortions(of value: JSONValue) -> [JSONValue] {
    var all = wrongValues
    switch value {
    case .object(let members):
      for (name, member) in members {
        all.append(.object(members.filter { $0.key != name }))
        all += distortions(of: member).map { .object(members.merging([name: $0]) { $1 }) }
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        all += distortions(of: element).map { distorted in
          var elements = elements
          elements[index] = distorted
          return .array(elements)
        }
      }
    case .null, .bool, .int, .double, .string: break
    }
    return all
  }

  @Test("no wrong argument, and no wrong part of one, is a fault of the server")
  func wrongArguments() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let operations = operations(in: try await description(of: service, key))
      var comparators: [String] = []
      for (name, arguments) in try requests(service) {
        let operation = try #require(operations.first { $0.name == name }, "\(name)")
        for (argument, value) in arguments {
          // Each that is taken costs a hash of 64 MiB.
          let distortions = argument == "password" ? Self.wrongValues : Self.distortions(of: value)
          for wrong in distortions {
            let answer = try await send(
              operation, arguments.merging([argument: wrong]) { $1 }, to: service, key)
            #expect(
              answer.status < 500, "\(name), \(argument): \(wrong.text.prefix(300)): \(answer.json)"
            )
          }
        }
      }
      for comparator in ["LIKE", "", "equals"] {
        let answer = try await service.adminPost(
          "subscriptions/save",
          .object(
            Self.place.merging([
              "subscriber": "bob",
              "subscription": [
                "subscriptionID": "odd", "subscriptionType": "query", "firesOn": ["create"],
                "query": [
                  "recordType": "Note",
                  "filterBy": [
                    [
                      "fieldName": "title", "comparator": .string(comparator),
                      "fieldValue": ["value": "x"],
                    ]
                  ],
                ],
              ],
            ]) { $1 }), key: key)
        comparators.append(answer.failure)
        #expect(answer.reason.contains("comparator"), "\(answer.json)")
      }
      #expect(comparators == Array(repeating: "400 BAD_REQUEST", count: 3))
    }
  }

  private static let token = String(repeating: "ab", count: 32)

  @Test(
    "what it says of answers is what they are", .enabled(if: Python.isInstalled, "no Python"))
  func answers() async throws {
    try await withServiceOfUnreachableAPNs { service in
      let key = try await service.addAdminKey()
      // Two pushes, one of them to a device, and a change that was checked without a match.
      for (id, filter) in [("all", ""), ("bread", Self.titleIs("Bread"))] {
        try await service.subscribe(
          """
          {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
           "zoneWide": true, "query": {"recordType": "Note", "filterBy": [\(filter)]}}
          """)
      }
      let registered = try await service.post(
        "tokens/register",
        #"{"apnsEnvironment": "development", "apnsToken": "\#(Self.token)", "clientId": "pad"}"#,
        as: service.alice)
      try #require(registered.status == 200)
      let saved = try await service.modify(
        Service.operation("create", "A", #""title": {"value": "Milk"}"#), device: "phone")
      try #require(saved.outcomes == ["ok"])
      try await eventually("the change is dispatched and its push waits for its device") {
        let pushes = try await service.adminGet(
          "pushes?container=\(Service.container)", key: key)
        return pushes.json["pushes"]?.array?.first?["deliveries"]?.array?.first != nil
      }
      let description = try await description(of: service, key)
      let operations = operations(in: description)
      var asked: Set<String> = ["GET events", "POST session/sign-out", "POST keys/revoke"]
      var answers: [JSONValue] = []
      func ask(_ name: String, _ arguments: [String: JSONValue]) async throws {
        let operation = try #require(operations.first { $0.name == name }, "\(name)")
        let answer = try await send(operation, arguments, to: service, key)
        #expect(answer.status == 200, "\(name): \(answer.json)")
        asked.insert(name)
        let schema = try #require(operation.answer, "\(name)")
        answers.append(["name": .string(name), "schema": schema, "answer": answer.json])
      }
      for (name, arguments) in try requests(service) { try await ask(name, arguments) }
      let keys = try await service.adminGet("keys", key: key).json["keys"]?.array ?? []
      let other = try #require(keys.first { $0["name"]?.string == "other" })
      try await ask("POST keys/revoke", ["identifier": other["identifier"] ?? .null])
      try await ask("GET keys", [:])
      try await ask("GET servers", [:])
      try await ask("GET background", [:])
      let place: [String: JSONValue] = ["container": .string(Service.container)]
      try await ask("GET databases/partition", place)
      try await ask("POST databases/partition", place.merging(["parts": "1"]) { $1 })
      #expect(asked == Set(operations.map(\.name)), "what is new needs a request here")

      // And a failure, which has a shape of its own.
      let failure = try await service.adminGet("users/show?user=nobody", key: key)
      answers.append([
        "name": "a failure", "schema": ["$ref": "#/components/schemas/Error"],
        "answer": failure.json,
      ])
      let file = service.directory + "/answers.json"
      let all: JSONValue = [
        "components": description["components"] ?? .null, "answers": .array(answers),
      ]
      try Data(all.text.utf8).write(to: URL(fileURLWithPath: file))
      let faults = try Python.run(
        """
        import json, sys
        from jsonschema import Draft202012Validator
        everything = json.load(open(sys.argv[1]))
        for item in everything["answers"]:
          schema = {"components": everything["components"], "allOf": [item["schema"]]}
          Draft202012Validator.check_schema(schema)
          for error in Draft202012Validator(schema).iter_errors(item["answer"]):
            print(item["name"], list(error.absolute_path), error.message)
        print(len(everything["answers"]), "looked at")
        """, file)
      #expect(faults == "\(answers.count) looked at")
    }
  }

  private static func titleIs(_ title: String) -> String {
    """
    {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "\(title)"}}
    """
  }
}
