import CloudKitModel
import Foundation
import HTTPService
import Testing
import WebServices

@testable import CloudKit

struct HTTPTransportTests {
  private static func caller(_ name: String) -> HTTPResponse {
    HTTPResponse(body: .data(UserResponse(userRecordName: name).body))
  }

  @Test(
    "The path is the protocol's, and the token's + / = arrive whole",
    arguments: HTTPTransport.allCases)
  func request(transport: HTTPTransport) async throws {
    let seen = Guarded<[HTTPRequest]>([])
    try await HTTPTransport.withServer {
      seen.append($0)
      return Self.caller("_me")
    } _: { url in
      let prefixed = url.appendingPathComponent("petrel/")
      _ = try await transport.container(prefixed, token: "a+b/c==&d").userRecordID()
    }
    let request = try #require(seen.current.first)
    #expect(request.method == "GET")
    #expect(
      request.rawPath
        == "/petrel/database/1/iCloud.com.example.app/development/public/users/caller")
    #expect(
      request.rawQuery
        == "ckAPIToken=k&ckWebAuthToken=a%2Bb%2Fc%3D%3D%26d&clientId=my%20phone")
  }

  @Test("Bodies go and come whole", arguments: HTTPTransport.allCases)
  func bodies(transport: HTTPTransport) async throws {
    let text = String(repeating: "\u{1F426} ", count: 20_000)
    let saved = try await HTTPTransport.withServer { request in
      guard
        let parsed = try? ModifyRecordsRequest(parsing: request.body, context: serverContext),
        case .success(let operation)? = parsed.operations.first
      else { return HTTPResponse(status: 400) }
      var record = Record(recordID: operation.recordID, recordType: "T", recordChangeTag: "1")
      record.fields = operation.fields.compactMapValues { $0 }
      return HTTPResponse(
        body: .data(
          RecordsResponse(records: [.success(.record(record))]).body(context: serverContext)))
    } _: { url in
      let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
      record["text"] = text
      return try await transport.container(url).privateCloudDatabase.save(record)
    }
    #expect(saved["text"] as String? == text)
    #expect(saved.recordChangeTag == "1")
  }

  @Test(
    "An error of the service comes with its status, code and reason",
    arguments: HTTPTransport.allCases)
  func errors(transport: HTTPTransport) async throws {
    let error = try await HTTPTransport.withServer { _ in
      HTTPResponse(
        status: 429, body: .data(ServiceError(.throttled, "too fast", retryAfter: 4).body))
    } _: { url in
      try await #require(throws: CKError.self) { try await transport.container(url).userRecordID() }
    }
    #expect(error.code == .requestRateLimited)
    #expect(error.retryAfterSeconds == 4)
    #expect(error.localizedDescription == "too fast")
  }

  @Test("Headers reach the client: the next web auth token", arguments: HTTPTransport.allCases)
  func headers(transport: HTTPTransport) async throws {
    let tokens = Guarded<[String?]>([])
    try await HTTPTransport.withServer { request in
      tokens.append(request.query("ckWebAuthToken"))
      var response = Self.caller("_me")
      response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", "second"))
      return response
    } _: { url in
      let container = transport.container(url, token: "first")
      _ = try await container.userRecordID()
      _ = try await container.userRecordID()
    }
    #expect(tokens.current == ["first", "second"])
  }

  @Test("Nobody listens: networkFailure that names the server", arguments: HTTPTransport.allCases)
  func refused(transport: HTTPTransport) async throws {
    let error = try await #require(throws: CKError.self) {
      try await transport.container(URL(string: "http://127.0.0.1:1")!).userRecordID()
    }
    #expect(error.code == .networkFailure)
    #expect(
      error.localizedDescription == "127.0.0.1:1 cannot be connected to; is a server running there?"
    )
  }

  @Test("A server without TLS behind an https address: networkFailure that says so")
  func plainServer() async throws {
    let error = try await HTTPTransport.withServer { _ in
      Self.caller("_me")
    } _: { url in
      var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
      components?.scheme = "https"
      let secure = try #require(components?.url)
      return try await #require(throws: CKError.self) {
        try await HTTPTransport.curl.container(secure).userRecordID()
      }
    }
    #expect(error.code == .networkFailure)
    #expect(
      error.localizedDescription.hasSuffix(
        " did not answer with TLS; does its URL begin with http: instead of https:?"))
  }

  @Test("No answer in time: networkFailure", arguments: HTTPTransport.allCases)
  func timeOut(transport: HTTPTransport) async throws {
    let error = try await HTTPTransport.withServer { _ in
      await HTTPTransport.untilCancelled()
      return HTTPResponse(status: 500)
    } _: { url in
      let configuration = CKOperation.Configuration()
      configuration.timeoutIntervalForRequest = 1
      return try await transport.container(url).configuredWith(configuration: configuration) {
        container in
        try await #require(throws: CKError.self) { try await container.userRecordID() }
      }
    }
    #expect(error.code == .networkFailure)
    #expect(error.localizedDescription.contains("did not answer in time"))
  }

  @Test(
    "The connection breaks before the answer: serverResponseLost", arguments: HTTPTransport.allCases
  )
  func lost(transport: HTTPTransport) async throws {
    let listener = try BreakingListener()
    defer { listener.close() }
    let error = try await #require(throws: CKError.self) {
      try await transport.container(URL(string: "http://127.0.0.1:\(listener.port)")!)
        .userRecordID()
    }
    #expect(error.code == .serverResponseLost)
  }

  @Test(
    "Requests are answered beside more long polls than requests have connections",
    arguments: HTTPTransport.allCases)
  func longPolls(transport: HTTPTransport) async throws {
    let polling = AsyncStream.makeStream(of: Void.self)
    try await HTTPTransport.withServer { request in
      switch request.path {
      case "/poll":
        polling.continuation.yield()
        await HTTPTransport.untilCancelled()
        return HTTPResponse()
      case let path where path.contains("/tokens/"):
        let host = request.header("Host") ?? ""
        return HTTPResponse(
          body: .data(
            TokenResponse(
              apnsEnvironment: .development, apnsToken: "t", webcourierURL: "http://\(host)/poll"
            ).body))
      default:
        return Self.caller("_me")
      }
    } _: { url in
      let container = transport.container(url)
      let client = try container.client.get()
      let listeners = (0..<20).map { _ in
        Task { try await CourierListener(client: client).read { _ in true } }
      }
      var count = 0
      for await _ in polling.stream {
        count += 1
        if count == listeners.count { break }
      }
      #expect(try await container.userRecordID().recordName == "_me")
      for listener in listeners { listener.cancel() }
      for listener in listeners { try await listener.value }
    }
  }
}

/// Accepts connections, reads something and closes them.
private final class BreakingListener: @unchecked Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let thread: Thread

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(bound && listen(descriptor, 8) == 0)
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
    thread = Thread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        var byte: UInt8 = 0
        _ = read(connection, &byte, 1)
        Foundation.close(connection)
      }
    }
    thread.start()
  }

  func close() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    Foundation.close(descriptor)
  }
}
