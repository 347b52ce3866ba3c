import Cryptography
import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// Tests of replayed URLs and receipts of one file: at the same moment, at another server of the
/// same store, later.
struct AssetReplayTests {
  @Test("an upload URL takes one file, however many servers get how many at the same moment")
  func uploads() async throws {
    try await onBothEngines { service, clients in
      let announced = try await service.askForUpload(record: "a", field: "file", in: "private")
      let path = try #require(announced.uploadURLs.first)
      // Each file twice, at each server.
      let files = ["one", "two", "three", "four"]
      let answers = try await all(8, to: clients) { server, number in
        try await server.send("POST", path, body: Data(files[number / 2].utf8))
      }
      // What others are answered says why they have no file.
      let taken = answers.filter { $0.status == 200 }
      let receipts = Set(taken.compactMap { $0.json["singleFile"]?.text })
      #expect(receipts.count == 1 && taken.count <= 2, "\(answers.map(\.json))")
      let saved = try await service.modify(
        Service.operation("create", "a", #""file": {"value": \#(receipts.first ?? "")}"#),
        in: "private")
      let place = try service.path(saved[0].field("file")?["downloadURL"])
      for client in clients {
        let file = try await client.send("GET", place)
        #expect(files.contains(String(decoding: file.body, as: UTF8.self)))
        #expect(
          file.headers["etag"]?.contains(SHA256.hash(file.body).hexadecimal) == true,
          "\(file.headers)")
      }
    }
  }

  @Test("a receipt is good for its record and field alone, also at another server and later")
  func receipts() async throws {
    try await onBothEngines { service, clients in
      let receipt = try await service.uploaded(
        Data("bytes".utf8), record: "a", field: "file", in: "private"
      ).text
      func save(
        _ name: String, _ field: String = "file", as user: TestUser, at client: ServiceClient
      ) async throws -> String {
        let operation = Service.operation(
          "forceUpdate", name, #""\#(field)": {"value": \#(receipt)}"#)
        let answer = try await client.send(
          "POST", service.target("private/records/modify", as: user),
          body: Data(#"{"operations": [\#(operation)], "atomic": false}"#.utf8))
        return answer.outcomes.first ?? answer.failure
      }
      for client in clients {
        #expect(try await save("b", as: service.alice, at: client) != "ok")
        #expect(try await save("a", "other", as: service.alice, at: client) != "ok")
        #expect(try await save("a", as: service.bob, at: client) != "ok")
      }
      // Its own record may have it again and again: it is the same file.
      for client in clients { #expect(try await save("a", as: service.alice, at: client) == "ok") }
      for client in clients {
        #expect(try await save("b", as: service.alice, at: client) != "ok")
        #expect(try await save("a", as: service.bob, at: client) != "ok")
      }
    }
  }

  @Test("a download URL is good for its hour on each server, and its parts for no other file")
  func downloads() async throws {
    try await withTwoServers { service, other in
      var paths: [String] = []
      for (name, user) in [("a", service.alice), ("b", service.alice), ("a", service.bob)] {
        let asset = try await service.uploaded(
          Data("\(name) \(user.name)".utf8), record: name, field: "file", in: "private", as: user
        ).text
        let saved = try await service.modify(
          Service.operation("create", name, #""file": {"value": \#(asset)}"#), in: "private",
          as: user)
        paths.append(try service.path(saved[0].field("file")?["downloadURL"]))
      }
      // Each part of each URL in place of the same part of each other: no mixture is good.
      func parts(_ path: String) -> [String] {
        path.split { "/?&".contains($0) }.dropFirst().map(String.init)
      }
      for one in paths {
        for two in paths where one != two {
          for place in 0..<4 where parts(one)[place] != parts(two)[place] {
            let mixed = one.replacingOccurrences(of: parts(one)[place], with: parts(two)[place])
            for client in [service.client, other] {
              let answer = try await client.send("GET", mixed)
              #expect([403, 404].contains(answer.status), "\(mixed)")
              let part = try await client.send("GET", mixed, headers: "Range: bytes=0-0\r\n")
              #expect([403, 404].contains(part.status))
            }
          }
        }
      }
      for (path, text) in zip(paths, ["a alice", "b alice", "a bob"]) {
        for client in [service.client, other] {
          #expect(try await client.send("GET", path).body == Data(text.utf8))
        }
      }
      service.clock.advance(bySeconds: 3_599)
      #expect(try await service.client.send("GET", paths[0]).status == 200)
      service.clock.advance(bySeconds: 2)
      for range in ["", "Range: bytes=0-0\r\n", "If-Range: x\r\nRange: bytes=0-\r\n"] {
        let late = try await service.client.send("GET", paths[0], headers: range)
        #expect(late.failure == "403 ACCESS_DENIED")
        #expect(!String(decoding: late.body, as: UTF8.self).contains("alice"))
      }
      // Within its hour on the other server, whose clock was not set.
      #expect(try await other.send("GET", paths[0]).status == 200)
    }
  }
}
