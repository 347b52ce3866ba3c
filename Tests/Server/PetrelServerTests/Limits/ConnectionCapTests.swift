import Foundation
import JSONCoding
import OutboundHTTP
import Testing
import Waiting

@testable import PetrelServer

struct ConnectionCapTests {
  private func connect(to port: Int) throws -> FileHandle {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isConnected)
    return file
  }

  @Test("one more than configured is refused in the protocol's form, and counted")
  func cap() async throws {
    var settings = ServiceSettings()
    settings.limits.proxies = []
    settings.limits.connectionsPerAddress = 2
    try await withService(settings) { service in
      var held: [FileHandle] = []
      for count in 1...2 {
        held.append(try connect(to: service.server.port))
        try await eventually("\(count) are open") {
          service.server.httpMetrics.openConnections == count
        }
      }
      // Nothing is sent, so that the answer cannot get lost.
      let answer = String(
        decoding: try connect(to: service.server.port).readToEnd() ?? Data(), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
      let body = try JSONValue(parsing: answer.components(separatedBy: "\r\n\r\n").last ?? "")
      #expect(body.errorCode == "TRY_AGAIN_LATER" && body["retryAfter"] == 1, "\(answer)")
      #expect(body.reason.hasPrefix("this address has 2 open connections"), "\(answer)")
      held.removeLast()
      try await eventually("one is closed") { service.server.httpMetrics.openConnections == 1 }
      let page = try await service.client.send("GET", "/metrics")
      let text = String(decoding: page.body, as: UTF8.self)
      for line in [
        #"petrel_http_refused_total{reason="tooManyConnectionsOfAddress"} 1"#,
        #"petrel_http_refused_total{reason="tooManyConnectionsOfNetwork"} 0"#,
        "petrel_http_connections_evicted_total 0",
      ] {
        #expect(text.contains(line + "\n"), "\(line)")
      }
      // The last look at the server may need a connection more than the client has.
      held.removeAll()
      try await eventually("room is made") { service.server.httpMetrics.openConnections <= 1 }
    }
  }
}
