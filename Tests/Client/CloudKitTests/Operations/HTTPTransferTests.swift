import Foundation
import HTTPService
import Testing

@testable import CloudKit

struct HTTPTransferTests {
  private static let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// Calls `body` with a folder of its own.
  private func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }

  /// Transfers a file, and returns the reported progress.
  private func move(
    _ direction: AssetTransfer.Direction, at url: URL, over transport: HTTPTransport,
    timeout: TimeInterval = 60
  ) async -> (Result<TransportResponse, TransportFailure>, [Int64]) {
    let moved = Guarded<[Int64]>([])
    let result = await withCheckedContinuation { continuation in
      _ = transport.make(serverURL: url).transfer(
        AssetTransfer(direction, at: url, timeout: timeout), progress: { moved.append($0) },
        completion: { continuation.resume(returning: $0) })
    }
    return (result, moved.current)
  }

  private func kind(
    _ result: Result<TransportResponse, TransportFailure>
  ) -> TransportFailure.Kind? {
    if case .failure(let failure) = result { failure.kind } else { nil }
  }

  private func isThere(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

  @Test(
    "An upload goes whole, and its progress ends with its size", arguments: HTTPTransport.allCases)
  func upload(transport: HTTPTransport) async throws {
    let seen = Guarded<[HTTPRequest]>([])
    let (result, moved) = try await withFolder { folder in
      let file = folder.appendingPathComponent("up")
      try Self.bytes.write(to: file)
      return try await HTTPTransport.withServer {
        seen.append($0)
        return HTTPResponse(status: 201, body: .data(Data("taken".utf8)))
      } _: {
        await move(.upload(from: file), at: $0, over: transport)
      }
    }
    #expect(try result.get().status == 201)
    #expect(try result.get().body == Data("taken".utf8))
    let request = try #require(seen.current.first)
    #expect(request.method == "POST")
    #expect(request.header("Content-Type") == "application/octet-stream")
    #expect(request.body == Self.bytes)
    #expect(moved == moved.sorted())
    #expect(moved.last == Int64(Self.bytes.count))
  }

  @Test("A download is whole, and its file for the user alone", arguments: HTTPTransport.allCases)
  func download(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let (result, moved) = try await HTTPTransport.withServer { _ in
        HTTPResponse(body: .data(Self.bytes))
      } _: {
        await move(.download(to: file), at: $0, over: transport)
      }
      #expect(try result.get().status == 200)
      #expect(try result.get().body.isEmpty)
      #expect(try Data(contentsOf: file) == Self.bytes)
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      #expect(moved == moved.sorted())
      #expect(moved.last == Int64(Self.bytes.count))
    }
  }

  @Test("A download without a byte is an empty file")
  func emptyDownload() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let (result, _) = try await HTTPTransport.withServer { _ in
        HTTPResponse()
      } _: {
        await move(.download(to: file), at: $0, over: .curl)
      }
      #expect(try result.get().status == 200)
      #expect(try Data(contentsOf: file).isEmpty)
    }
  }

  @Test(
    "A download that is refused leaves no file, and says why", arguments: HTTPTransport.allCases)
  func refusedDownload(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let (result, _) = try await HTTPTransport.withServer { _ in
        HTTPResponse(status: 404, body: .data(Data("gone".utf8)))
      } _: {
        await move(.download(to: file), at: $0, over: transport)
      }
      #expect(try result.get().status == 404)
      #expect(try result.get().body == Data("gone".utf8))
      #expect(!isThere(file))
    }
  }

  @Test("A download that breaks off leaves no file", arguments: HTTPTransport.allCases)
  func brokenDownload(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let (result, _) = try await HTTPTransport.withServer { _ in
        HTTPResponse(
          body: .streamOfLength(
            10,
            { writer in
              try await writer.write(Data("half".utf8))
              throw CancellationError()
            }))
      } _: {
        await move(.download(to: file), at: $0, over: transport)
      }
      #expect(kind(result) == .answerLost)
      #expect(!isThere(file))
    }
  }

  @Test("A download that is cancelled half-way leaves no file", arguments: HTTPTransport.allCases)
  func cancelledDownload(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let result = try await HTTPTransport.withServer { _ in
        HTTPResponse(
          body: .stream { writer in
            try await writer.write(Self.bytes)
            await HTTPTransport.untilCancelled()
          })
      } _: { url in
        let begun = AsyncStream.makeStream(of: Void.self)
        let ended = AsyncStream.makeStream(of: Result<TransportResponse, TransportFailure>.self)
        let cancel = transport.make(serverURL: url).transfer(
          AssetTransfer(.download(to: file), at: url, timeout: 60),
          progress: { _ in begun.continuation.yield() },
          completion: { ended.continuation.yield($0) })
        for await _ in begun.stream { break }
        cancel()
        cancel()
        for await result in ended.stream { return result }
        throw CancellationError()
      }
      #expect(kind(result) == .cancelled)
      #expect(!isThere(file))
    }
  }

  @Test("What is no file cannot be uploaded", arguments: HTTPTransport.allCases)
  func unreadable(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let (result, _) = await move(
        .upload(from: folder.appendingPathComponent("none")),
        at: try #require(URL(string: "http://127.0.0.1:1")), over: transport)
      #expect(kind(result) == .unreadableFile)
      // Foundation's transport sends nothing of a folder.
      guard transport == .curl else { return }
      let (other, _) = await move(
        .upload(from: folder), at: try #require(URL(string: "http://127.0.0.1:1")), over: transport)
      #expect(kind(other) == .unreadableFile)
    }
  }

  @Test("A file that is there is not written over", arguments: HTTPTransport.allCases)
  func unwritable(transport: HTTPTransport) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      try Data("mine".utf8).write(to: file)
      let (result, _) = try await HTTPTransport.withServer { _ in
        HTTPResponse(body: .data(Self.bytes))
      } _: {
        await move(.download(to: file), at: $0, over: transport)
      }
      #expect(kind(result) == .unwritableFile)
      #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }
  }

  @Test("A redirect is followed with the whole body")
  func redirect() async throws {
    let (result, _) = try await withFolder { folder in
      let file = folder.appendingPathComponent("up")
      try Self.bytes.write(to: file)
      return try await HTTPTransport.withServer { request in
        request.path == "/new"
          ? HTTPResponse(body: .data(request.body))
          : HTTPResponse(status: 307, headers: [("Location", "/new")])
      } _: {
        await move(.upload(from: file), at: $0, over: .curl)
      }
    }
    #expect(try result.get().body == Self.bytes)
  }

  @Test("What comes slowly takes as long as it likes, and so does what waits for a connection")
  func slow() async throws {
    try await withFolder { folder in
      let results = try await HTTPTransport.withServer { _ in
        HTTPResponse(
          body: .stream { writer in
            // The pace of a slow peer: longer in all than the timeout, and far shorter each time.
            for _ in 0..<10 {
              try await Task.sleep(for: .milliseconds(250))
              try await writer.write(Data("0123".utf8))
            }
          })
      } _: { url in
        // One more than there are connections.
        await withTaskGroup(of: Result<TransportResponse, TransportFailure>.self) { group in
          for number in 0..<9 {
            group.addTask {
              await move(
                .download(to: folder.appendingPathComponent("\(number)")), at: url, over: .curl,
                timeout: 2
              ).0
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      for result in results { #expect(try result.get().status == 200) }
      for number in 0..<9 {
        let file = folder.appendingPathComponent("\(number)")
        #expect(try Data(contentsOf: file).count == 40)
      }
    }
  }

  @Test("What falls silent half-way times out and leaves no file")
  func silent() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("down")
      let (result, moved) = try await HTTPTransport.withServer { _ in
        HTTPResponse(
          body: .stream { writer in
            try await writer.write(Data("half".utf8))
            await HTTPTransport.untilCancelled()
          })
      } _: {
        await move(.download(to: file), at: $0, over: .curl, timeout: 0.5)
      }
      #expect(kind(result) == .timedOut)
      #expect(moved == [4])
      #expect(!isThere(file))
    }
  }
}
