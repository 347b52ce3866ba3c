import Foundation
import Testing

@testable import PetrelServer

/// Whether the admin API and the console can be reached, by somebody who has a right key.
struct AdminExposureTests {
  private func statuses(
    _ settings: ServiceSettings, headers: String = ""
  ) async throws -> [Int] {
    var statuses: [Int] = []
    try await withService(settings) { service in
      let key = try await service.addAdminKey()
      let cookie = try await service.beginConsoleSession(key)
      statuses = [
        try await service.adminGet("session", key: key, headers: headers).status,
        try await service.adminPost("users/add", ["name": "eve"], key: key, headers: headers)
          .status,
        try await service.client.send("GET", "/console/", headers: cookie + headers).status,
        try await service.client.send("GET", "/console/sign-in", headers: headers).status,
        try await service.client.send("GET", "/console/console.css", headers: headers).status,
      ]
    }
    return statuses
  }

  private static let open = [200, 200, 200, 200, 200]
  private static let absent = [404, 404, 404, 404, 404]

  @Test("on 0.0.0.0 it is not there unless the configuration says so")
  func allAddresses() async throws {
    var settings = ServiceSettings()
    settings.address = "0.0.0.0"
    #expect(try await statuses(settings) == Self.absent)
    settings.admin.hasConsole = true
    #expect(try await statuses(settings) == Self.absent)
    settings.admin.isEnabled = true
    #expect(try await statuses(settings) == Self.open)
  }

  @Test(
    "on 127.0.0.1 it is there by itself for programs of this machine, by any of its names",
    arguments: ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
  func ownMachine(host: String) async throws {
    #expect(try await statuses(ServiceSettings(), headers: "Host: \(host)\r\n") == Self.open)
  }

  @Test(
    "what a proxy on this machine forwards does not get to it unless the configuration says so",
    arguments: [
      "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: https",
      "Forwarded: for=127.0.0.1", "X-Real-IP: ::1", "Via: 1.1 proxy", "Host: cloud.example.com",
      "Host: cloud.example.com:8080", "Host: 192.0.2.1", "Host: localhost.example.com",
      "Host: localhost@evil.example.com", "Host: ",
    ])
  func proxies(header: String) async throws {
    #expect(try await statuses(ServiceSettings(), headers: header + "\r\n") == Self.absent)
  }

  @Test("a proxy's own header field counts as well, and the operator's word goes before all of it")
  func named() async throws {
    var settings = ServiceSettings()
    settings.limits.clientAddressHeader = "CF-Connecting-IP"
    let header = "CF-Connecting-IP: 127.0.0.1\r\n"
    #expect(try await statuses(settings, headers: header) == Self.absent)
    #expect(try await statuses(settings) == Self.open)
    settings.admin.isEnabled = true
    #expect(
      try await statuses(settings, headers: header + "Host: cloud.example.com\r\n") == Self.open)
    settings.admin.isEnabled = false
    #expect(try await statuses(settings) == Self.absent)
  }
}
