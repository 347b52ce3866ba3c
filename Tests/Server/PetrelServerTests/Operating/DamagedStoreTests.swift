import Foundation
import Testing
import Waiting

@testable import PetrelServer

@Suite(.enabled(if: ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] != "postgres"))
struct DamagedStoreTests {
  @Test("answers no request any more, tells why, and lives")
  func stops() async throws {
    try await withService { service in
      // Records of pages of their own, which nobody reads before they are damaged.
      for number in 0..<20 {
        let text = (0..<5_000).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }
        let operation = Service.operation(
          "create", "n\(number)", #""text": {"value": "\#(text.joined())"}"#)
        #expect(try await service.modify(operation).outcomes == ["ok"])
      }
      try await service.restart()
      #expect(try await service.lookup("n1").status == 200)
      let path = service.directory + "/petrel.sqlite"
      let size = try #require(
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      for page in 1..<size / 4_096 {
        try file.seek(toOffset: UInt64(page * 4_096 + 1_000))
        try file.write(contentsOf: Data("damage".utf8))
      }
      try file.close()
      _ = try await service.lookup("n11")
      try await eventually("damage is met") {
        try await service.client.send("GET", "/health/ready").status == 503
      }
      let ready = try await service.client.send("GET", "/health/ready")
      let trouble = ready.json["checks"]?["store"]?.string ?? ""
      #expect(trouble.contains("does not match its checksum"), "\(trouble)")
      #expect(trouble.contains("restore"), "\(trouble)")
      #expect(try await service.client.send("GET", "/health/live").status == 200)
      #expect(try await service.client.send("GET", "/metrics").status == 200)
      for answer in [
        try await service.lookup("n1"),
        try await service.modify(Service.operation("create", "late")),
      ] {
        #expect(answer.status == 503)
        #expect(answer.json["serverErrorCode"] == "TRY_AGAIN_LATER", "\(answer.json)")
        #expect(answer.headers["retry-after"] == "60")
      }
      // Nothing was written on top of it: with the file as it was all is there.
      let back = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try back.write(contentsOf: whole)
      try back.close()
      try await service.restart()
      #expect(try await service.lookup("n1").status == 200)
    }
  }

  @Test("a damaged file of an asset is not given as a whole, whatever part of it is asked for")
  func assets() async throws {
    for count in [300_000, 500] {
      try await withService { service in
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        let path = try await service.savedAsset(bytes)
        let folder = service.directory + "/petrel.sqlite-assets"
        let name = try #require(
          try FileManager.default.subpathsOfDirectory(atPath: folder).first {
            FileManager.default.contents(atPath: folder + "/" + $0) == bytes
          })
        var damaged = bytes
        damaged[count / 2] ^= 4
        for contents in [damaged, bytes.dropLast(), Data()] {
          try Data(contents).write(to: URL(fileURLWithPath: folder + "/" + name))
          let whole = try? await service.client.send("GET", path)
          #expect(whole?.status != 200 || (whole?.body.count ?? 0) < contents.count)
          let part = try? await service.client.send(
            "GET", path, headers: "Range: bytes=0-9\r\n")
          #expect(part?.status != 206 && part?.status != 200, "\(contents.count) of \(count)")
        }
        try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
        #expect(try await service.client.send("GET", path).body == bytes)
      }
    }
  }
}
