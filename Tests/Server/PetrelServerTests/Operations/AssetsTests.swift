import Cryptography
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import PetrelServer

struct AssetsTests {
  private static let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

  @Test("A file is uploaded, saved in a record and downloaded again")
  func roundTrip() async throws {
    try await withService { service in
      let answer = try await service.askForUpload(record: "n", field: "file")
      #expect(answer.status == 200)
      let token = try #require(answer.json["tokens"]?.array?.first)
      #expect(token["recordName"] == .string("n") && token["fieldName"] == .string("file"))
      let uploaded = try await service.upload(Self.bytes, to: answer.uploadURLs[0])
      #expect(uploaded.status == 200)
      let file = try #require(uploaded.json["singleFile"])
      #expect(file["size"] == .int(300_000))
      #expect(
        file["fileChecksum"]?.string
          == SHA256.hash(Self.bytes).map { String(format: "%02x", $0) }.joined())
      #expect(file["receipt"]?.string?.isEmpty == false)

      let saved = try await service.modify(
        Service.operation("create", "n", #""file": {"value": \#(file.text)}"#))
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let answers = [
        saved, try await service.lookup("n"), try await service.queryNotes(),
        try await service.modify(Service.operation("create", "n")),
      ]
      for answer in answers {
        let record = answer[0]["serverRecord"] ?? answer[0]
        #expect(record["fields"]?["file"]?["type"] == .string("ASSETID"))
        let asset = try #require(record.field("file"), "\(answer.json)")
        #expect(asset["receipt"] == nil && asset["size"] == .int(300_000))
        let download = try await service.client.send(
          "GET", try service.path(asset["downloadURL"]))
        #expect(download.status == 200 && download.body == Self.bytes)
        #expect(download.headers["content-length"] == "300000")
        #expect(Self.protection.allSatisfy { download.headers[$0.key] == $0.value })
      }
      let unwanted = try await service.lookup("n", more: #", "desiredKeys": []"#)
      #expect(unwanted[0].field("file") == nil)
    }
  }

  /// No browser takes an asset for a page, and pages of any origin may show it.
  private static let protection = [
    "content-type": "application/octet-stream", "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'", "content-disposition": "attachment",
    "cross-origin-resource-policy": "cross-origin",
  ]

  @Test("Every answer with bytes of an asset says that it is no page")
  func protection() async throws {
    try await withService { service in
      let path = try await service.savedAsset(Data("<script>alert(1)</script>".utf8))
      for range in ["", "Range: bytes=0-3\r\n", "Range: bytes=900-\r\n"] {
        for method in ["GET", "HEAD"] {
          let answer = try await service.client.send(method, path, headers: range)
          #expect([200, 206, 416].contains(answer.status), "\(answer.status)")
          for (name, value) in Self.protection {
            #expect(answer.headers[name] == value, "\(method) \(range)\(name)")
          }
        }
      }
    }
  }

  @Test("Lists of assets and empty files work like others")
  func lists() async throws {
    try await withService { service in
      var files: [String] = []
      for bytes in [Data("a".utf8), Data()] {
        files.append(try await service.uploaded(bytes, record: "n", field: "files").text)
      }
      let saved = try await service.modify(
        Service.operation(
          "create", "n",
          #""files": {"value": [\#(files.joined(separator: ","))], "type": "ASSET_LIST"}"#))
      let list = try #require(saved[0].field("files")?.array, "\(saved.json)")
      var downloads: [Data] = []
      for asset in list {
        downloads.append(
          try await service.client.send("GET", try service.path(asset["downloadURL"])).body)
      }
      #expect(downloads == [Data("a".utf8), Data()])
    }
  }

  @Test("Ranges of a file can be asked for, and its length without its bytes")
  func ranges() async throws {
    try await withService { service in
      let path = try await service.savedAsset(Self.bytes)
      let cases: [(String, Int, String, Range<Int>)] = [
        ("bytes=0-9", 206, "bytes 0-9/300000", 0..<10),
        ("bytes=299990-", 206, "bytes 299990-299999/300000", 299_990..<300_000),
        ("bytes=-5", 206, "bytes 299995-299999/300000", 299_995..<300_000),
        ("bytes=9-999999", 206, "bytes 9-299999/300000", 9..<300_000),
        ("bytes=300000-", 416, "bytes */300000", 0..<0),
        ("bytes=1-2,4-5", 200, "", 0..<300_000),
        ("lines=1-2", 200, "", 0..<300_000),
        ("bytes=5-2", 200, "", 0..<300_000),
      ]
      for (range, status, contentRange, part) in cases {
        let answer = try await service.client.send("GET", path, headers: "Range: \(range)\r\n")
        #expect(answer.status == status, "\(range)")
        #expect(answer.headers["content-range"] ?? "" == contentRange, "\(range)")
        #expect(answer.body == Self.bytes[part], "\(range)")
      }
      let head = try await service.client.send("HEAD", path)
      #expect(head.headers["content-length"] == "300000" && head.body.isEmpty)
    }
  }

  @Test("A download URL cannot be guessed or changed, and ends after an hour")
  func downloadURLs() async throws {
    try await withService { service in
      let path = try await service.savedAsset(Data("secret".utf8))
      let database = try #require(path.split(separator: "/").dropFirst().first)
      let number = try #require(service.store.secrets.tokens.database(named: database)).rawValue
      let other = try service.store.secrets.tokens.name(of: DatabaseID(rawValue: number + 1))
      for changed in [
        path.replacingOccurrences(of: "signature=", with: "signature=A"),
        path.replacingOccurrences(of: "expires=1", with: "expires=2"),
        path.replacingOccurrences(of: database, with: other),
        path.replacingOccurrences(of: database, with: "\(number)"),
      ] {
        let answer = try await service.client.send("GET", changed)
        #expect(changed != path && [403, 404].contains(answer.status), "\(changed)")
      }
      let bare = String(path.prefix { $0 != "?" })
      #expect(try await service.client.send("GET", bare).failure == "404 NOT_FOUND")
      #expect(try await service.client.send("POST", path).failure == "405 BAD_REQUEST")
      try await service.restart()
      #expect(try await service.client.send("GET", path).body == Data("secret".utf8))
      service.clock.advance(bySeconds: 3601)
      let late = try await service.client.send("GET", path)
      #expect(late.failure == "403 ACCESS_DENIED" && late.reason.contains("expired"))
    }
  }

  @Test("An upload URL is good for 15 minutes, and for one file")
  func uploadURLs() async throws {
    try await withService { service in
      let url = try await service.askForUpload(record: "n", field: "file").uploadURLs[0]
      #expect(try await service.client.send("GET", url).failure == "405 BAD_REQUEST")
      let unknown = try await service.upload(Data("a".utf8), to: url + "x")
      #expect(unknown.failure == "404 NOT_FOUND")
      service.clock.advance(bySeconds: 14 * 60)
      let first = try await service.upload(Data("a".utf8), to: url)
      #expect(first.status == 200)
      #expect(try await service.upload(Data("a".utf8), to: url).json == first.json)
      #expect(try await service.upload(Data("b".utf8), to: url).failure == "409 CONFLICT")
      service.clock.advance(bySeconds: 61)
      let late = try await service.upload(Data("a".utf8), to: url)
      #expect(late.failure == "400 BAD_REQUEST")
      #expect(late.reason.contains("'file'") && late.reason.contains("15 minutes"))
    }
  }

  @Test("A file over the limit is refused in the protocol's form")
  func tooLarge() async throws {
    try await withService { service in
      let url = try await service.askForUpload(record: "n", field: "file").uploadURLs[0]
      let answer = try await service.upload(Data(count: 50_000_001), to: url)
      #expect(answer.failure == "413 BAD_REQUEST")
      #expect(answer.json["limit"] == .int(50_000_000))
      let most = try await service.upload(Data(count: 50_000_000), to: url)
      #expect(most.status == 200)
      #expect(service.server.httpMetrics.bufferedBytes == 0)
    }
  }

  @Test("A client that saves what a failed upload answered is told why there is no file")
  func failedUploads() async throws {
    try await withService { service in
      let asked = try await service.askForUpload(record: "n", field: "file")
      let url = try #require(asked.uploadURLs.first)
      let tooLarge = try await service.upload(Data(count: 50_000_001), to: url)
      #expect(tooLarge.failure == "413 BAD_REQUEST")
      service.clock.advance(bySeconds: 16 * 60)
      let late = try await service.upload(Data("milk".utf8), to: url)
      #expect(late.failure == "400 BAD_REQUEST")
      for answer in [tooLarge, late] {
        let file = try #require(answer.json["singleFile"])
        #expect(file["reason"]?.string == answer.reason)
        for value in [
          #"{"value": \#(file.text)}"#, #"{"value": \#(file.text), "type": "ASSETID"}"#,
        ] {
          let saved = try await service.modify(
            Service.operation("create", "n", #""file": \#(value)"#))
          #expect(saved.outcomes == ["BAD_REQUEST"], "\(saved.json)")
          let reason = saved[0]["reason"]?.string ?? ""
          #expect(reason.contains("fields.file.value: the file was not uploaded"), "\(reason)")
          #expect(reason.contains(answer.reason))
        }
      }
    }
  }

  @Test("A record takes only a file that its user uploaded for the field")
  func receipts() async throws {
    try await withService { service in
      let file = try await service.uploaded(Data("a".utf8), record: "n", field: "file").text
      let cases: [(TestUser, String, String, String)] = [
        (service.bob, "n", #""file": {"value": \#(file)}"#, "did not give to this user"),
        (service.alice, "n", #""other": {"value": \#(file)}"#, "'other'"),
        (service.alice, "m", #""file": {"value": \#(file)}"#, "for the record 'n'"),
        (
          service.alice, "n",
          #""file": {"value": {"fileChecksum": "ab", "size": 1}}"#, "has no receipt"
        ),
      ]
      for (user, name, fields, reason) in cases {
        let answer = try await service.modify(
          Service.operation("create", name, fields), as: user)
        #expect(answer.outcomes == ["BAD_REQUEST"])
        #expect(answer[0].reason.contains(reason), "\(answer[0].reason)")
      }
      let saved = try await service.modify(
        Service.operation("create", "n", #""file": {"value": \#(file)}"#))
      #expect(saved.outcomes == ["ok"])
      // Clients send back what they fetched.
      let echoed = try #require(saved[0].field("file")?.text)
      let again = try await service.modify(
        Service.operation(
          "update", "n", #""file": {"value": \#(echoed)}, "n": {"value": 1}"#, tag: saved[0].tag))
      #expect(again.outcomes == ["ok"], "\(again.json)")
    }
  }

  @Test("A rereferenced file goes into another record without another upload")
  func rereference() async throws {
    try await withService { service in
      _ = try await service.savedAsset(Data("a".utf8))
      func rereference(_ places: String) async throws -> Answer {
        try await service.post(
          "public/assets/rereference", #"{"assets": [\#(places)]}"#, as: service.bob)
      }
      let place = #"{"recordName": "n", "fieldName": "file"}"#
      let asset = try #require(try await rereference(place).json["assets"]?.array?.first)
      let saved = try await service.modify(
        Service.operation("create", "m", #""scan": {"value": \#(asset.text)}"#, type: "Memo"),
        as: service.bob)
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let missing = try await rereference(#"\#(place), {"recordName": "x", "fieldName": "file"}"#)
      #expect(missing.failure == "404 NOT_FOUND" && missing.reason.contains("'x'"))
      let other = try await rereference(#"{"recordName": "n", "fieldName": "nothing"}"#)
      #expect(other.failure == "400 BAD_REQUEST" && other.reason.contains("'nothing'"))
    }
  }

  @Test("Requests for uploads that are wrong say so")
  func badRequests() async throws {
    try await withService { service in
      let token = #"{"recordType": "Note", "fieldName": "file"}"#
      let many = Array(repeating: token, count: 201).joined(separator: ",")
      let cases: [(String, String, String)] = [
        (#"{}"#, "400 BAD_REQUEST", "'tokens' is missing"),
        (#"{"tokens": []}"#, "400 BAD_REQUEST", "must not be empty"),
        (#"{"tokens": [\#(many)]}"#, "400 BAD_REQUEST", "the limit is 200"),
        (#"{"tokens": [{"fieldName": "f"}]}"#, "400 BAD_REQUEST", "'recordType' is missing"),
        (
          #"{"tokens": [{"recordType": "Note", "fieldName": "1"}]}"#, "400 BAD_REQUEST",
          "tokens[0]"
        ),
        (
          #"{"tokens": [\#(token)], "zoneID": {"zoneName": "Nowhere"}}"#, "404 ZONE_NOT_FOUND",
          "Nowhere"
        ),
      ]
      for (body, failure, reason) in cases {
        let answer = try await service.post("private/assets/upload", body, as: service.alice)
        #expect(answer.failure == failure && answer.reason.contains(reason), "\(answer.json)")
      }
      let anonymous = try await service.post(
        "public/assets/upload", #"{"tokens": [\#(token)]}"#, as: nil)
      #expect(anonymous.failure == "421 AUTHENTICATION_REQUIRED")
      let made = try await service.post(
        "private/assets/upload", #"{"tokens": [\#(token)]}"#, as: service.alice)
      #expect(made.json["tokens"]?.array?.first?["recordName"]?.string?.count == 36)
    }
  }
}

extension Answer {
  /// The paths of the URLs in an answer of `assets/upload`.
  var uploadURLs: [String] {
    (json["tokens"]?.array ?? []).compactMap { token in
      token["url"]?.string.flatMap { URL(string: $0)?.path }
    }
  }
}

extension Service {
  func askForUpload(
    record: String, field: String, in database: String = "public", as user: TestUser? = nil
  ) async throws -> Answer {
    try await post(
      "\(database)/assets/upload",
      #"{"tokens": [{"recordName": "\#(record)", "recordType": "Note", "fieldName": "\#(field)"}]}"#,
      as: user ?? alice)
  }

  fileprivate func upload(_ bytes: Data, to path: String) async throws -> Answer {
    try await client.send("POST", path, body: bytes)
  }

  /// The asset dictionary of bytes that a user, or alice, uploads.
  func uploaded(
    _ bytes: Data, record: String, field: String, in database: String = "public",
    as user: TestUser? = nil
  ) async throws -> JSONValue {
    let answer = try await askForUpload(record: record, field: field, in: database, as: user)
    let url = try #require(answer.uploadURLs.first, "\(answer.json)")
    let uploaded = try await upload(bytes, to: url)
    return try #require(uploaded.json["singleFile"], "\(uploaded.json)")
  }

  /// Saves bytes in the field `file` of a new record `n`; answers the path to download them.
  func savedAsset(_ bytes: Data) async throws -> String {
    let file = try await uploaded(bytes, record: "n", field: "file")
    let saved = try await modify(
      Self.operation("create", "n", #""file": {"value": \#(file.text)}"#))
    return try path(saved[0].field("file")?["downloadURL"])
  }

  func path(_ url: JSONValue?) throws -> String {
    let components = try #require(url?.string.flatMap { URLComponents(string: $0) })
    return components.path + "?" + (components.percentEncodedQuery ?? "")
  }

  fileprivate func queryNotes() async throws -> Answer {
    try await post("public/records/query", #"{"query": {"recordType": "Note"}}"#, as: alice)
  }
}
