import Foundation
import HTTPService
import OutboundHTTP
import Testing
import Waiting

struct SocketFileTests {
  private func withFile(_ body: (SocketFile) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-socket-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(SocketFile(path: folder + "/test.socket"))
  }

  /// Asks through the file, or at the port where there is none.
  private func get(_ path: String, of server: HTTPServer, _ file: SocketFile?) async throws
    -> String
  {
    var configuration = HTTPClient.Configuration()
    configuration.allowsHTTP = true
    configuration.rules = .anywhere
    configuration.socketPath = file?.path
    let client = try HTTPClient(configuration)
    let url = try OutboundURL(
      "http://127.0.0.1:\(server.port)\(path)", allowsHTTP: true, rules: .anywhere)
    let answer = try await client.send(OutboundRequest(.get, url: url, headers: []))
    await client.close()
    return String(decoding: answer.body, as: UTF8.self)
  }

  private static let origin: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
    let text = "\(request.isFromSocketFile) '\(request.remoteAddress)'"
    return HTTPResponse(body: .data(Data(text.utf8)))
  }

  @Test("requests through the file say so, and its owner alone can open it")
  func requests() async throws {
    try await withFile { file in
      try await withServer(handler: Self.origin) { server in
        #expect(!file.isListenedAt)
        try server.listen(at: file)
        #expect(file.isListenedAt)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await get("/", of: server, file) == "true ''")
        #expect(try await get("/", of: server, nil) == "false '127.0.0.1'")
        // The kernel's table is read in pieces. An entry is missing if others go between two pieces.
        try await eventually("the table of sockets has the file") {
          SocketFile.listening(named: "test.socket").contains(file)
        }
        #expect(!SocketFile.listening(named: "est.socket").contains(file))
      }
      #expect(!FileManager.default.fileExists(atPath: file.path))
      #expect(!SocketFile.listening(named: "test.socket").contains(file))
    }
  }

  @Test(
    "connections through the file do not count for an address, however many there may be of one")
  func uncapped() async throws {
    try await withFile { file in
      let gate = Gate()
      let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
        await gate.wait()
        return await Self.origin(request)
      }
      try await withServer({ $0.connectionsByAddress = 1 }, handler: handler) { server in
        try server.listen(at: file)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<5 { group.addTask { try await get("/", of: server, file) } }
          try await eventually("five requests wait") { gate.waitingCount == 5 }
          gate.open()
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: "true ''", count: 5))
      }
    }
  }

  @Test("a file that nobody listens at any more is replaced; one that is in use stays its server's")
  func takeover() async throws {
    try await withFile { file in
      // A second name of the file stays when its server ends, as the file of a server does that is killed.
      let first = SocketFile(path: file.path + "-1")
      try await withServer { server in
        try server.listen(at: first)
        #expect(link(first.path, file.path) == 0)
      }
      #expect(FileManager.default.fileExists(atPath: file.path) && !file.isListenedAt)
      try await withServer(handler: Self.origin) { first in
        try first.listen(at: file)
        try await withServer { second in
          #expect {
            try second.listen(at: file)
          } throws: {
            ($0 as? HTTPServerError)?.code == .addressInUse
          }
        }
        #expect(try await get("/", of: first, file) == "true ''")
      }
    }
  }

  @Test("a path that no socket can have is refused with its length")
  func longPath() async throws {
    try await withServer { server in
      let file = SocketFile(path: "/tmp/" + String(repeating: "x", count: 103))
      #expect {
        try server.listen(at: file)
      } throws: {
        let error = $0 as? HTTPServerError
        return error?.code == .invalidAddress && error?.reason.contains("has 108") == true
      }
      #expect(!file.isListenedAt)
    }
  }
}
