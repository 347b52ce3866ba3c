import APNsSimulation
import CloudKit
import Cryptography
import JSONCoding
import ProxySimulation
import Testing
import Waiting

/// From a save at the server's program to APNs, by the ways that a configuration may name.
@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct APNsAccessTests {
  /// Subscribes Anna's phone with pushes that are shown, and answers where her laptop saves.
  private func prepare(_ cloud: Cloud) async throws -> CKDatabase {
    let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
    try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
    return try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
  }

  /// Has the server show APNs a certificate, which `issuer` issues, in place of a key.
  private func useCertificate(
    of issuer: CertificateAuthority, named name: String, at simulator: SimulatorProgram,
    in cloud: Cloud
  ) async throws {
    let certificate = try issuer.issueClientCertificate(commonName: name)
    let file = cloud.directory + "/aps.pem"
    try (certificate.certificateChainPEM + certificate.privateKeyPEM).write(
      toFile: file, atomically: true, encoding: .utf8)
    let settings = simulator.settings
    try await cloud.configureProgram { apns in
      apns = settings
      apns["topics"] = [.string(Cloud.topic)]
      for key in ["teamID", "keyID", "keyFile"] { apns[key] = nil }
      apns["certificateFile"] = "aps.pem"
    }
  }

  private func authority(in cloud: Cloud) throws -> (CertificateAuthority, file: String) {
    let authority = try CertificateAuthority(commonName: "Push certificates")
    let file = cloud.directory + "/push-certificates.pem"
    try authority.writeCertificate(toFile: file)
    return (authority, file)
  }

  @Test("A certificate in place of a key: pushes are accepted, and bear no provider token")
  func certificate() async throws {
    try await Cloud.run { cloud in
      let laptop = try await prepare(cloud)
      try await cloud.makeRoomForProgram()
      let (authority, file) = try authority(in: cloud)
      let simulator = try await SimulatorProgram(["--client-ca", file], in: cloud.directory)
      try await useCertificate(
        of: authority, named: "Apple Development IOS Push Services: \(Cloud.topic)", at: simulator,
        in: cloud)
      let server = try await cloud.startProgram()
      for name in ["A", "B", "C"] { try await laptop.add("Item", name) }
      let received = try await simulator.accept(3)
      #expect(received.map(\.status) == [200, 200, 200], "\(server.output)")
      #expect(Set(received.compactMap(\.event)) == ["created A", "created B", "created C"])
      #expect(received.allSatisfy { $0.headers["authorization"] == nil })
      #expect(received.allSatisfy { $0.headers["apns-topic"] == Cloud.topic })
      try await server.kill()
    }
  }

  @Test("A certificate that APNs does not take: the log says so, and the push is kept")
  func foreignCertificate() async throws {
    try await Cloud.run { cloud in
      let laptop = try await prepare(cloud)
      try await cloud.makeRoomForProgram()
      let (authority, file) = try authority(in: cloud)
      let simulator = try await SimulatorProgram(["--client-ca", file], in: cloud.directory)
      let name = "Apple Push Services: \(Cloud.topic)"
      try await useCertificate(
        of: CertificateAuthority(commonName: "Others"), named: name, at: simulator, in: cloud)
      let first = try await cloud.startProgram()
      try await laptop.add("Item", "A")
      let line = try await first.line(containing: "pushes are paused")
      #expect(
        line.contains("container=\(Cloud.container) ") && line.contains("BadCertificate"), "\(line)"
      )
      try await first.kill()
      try await useCertificate(of: authority, named: name, at: simulator, in: cloud)
      let second = try await cloud.startProgram()
      try await laptop.add("Item", "B")
      try await eventually("the second one is accepted") {
        try simulator.received.contains { $0.isAccepted && $0.event == "created B" }
      }
      let refused = try simulator.received.first
      #expect(refused?.status == 403 && refused?.event == "created A")
      try await second.kill()
      // The first one may wait for a minute after it was refused.
      try await cloud.openStore()
      // And what was accepted is owed still when the server was killed before it noted that.
      let isOwed = try await cloud.store.deliveries.owedDeliveryCount() > 0
      let isAccepted = try simulator.received.contains { $0.isAccepted && $0.event == "created A" }
      #expect(isAccepted || isOwed)
    }
  }

  @Test("Through a proxy: it is asked for a tunnel, and the push is accepted")
  func proxy() async throws {
    try await Cloud.run { cloud in
      let laptop = try await prepare(cloud)
      let proxy = try SimulatedProxy(.tunnelFor("Basic YW5uYTpzZWNyZXQ="))
      defer { proxy.stop() }
      let port = proxy.port
      try await cloud.makeRoomForProgram {
        $0["proxy"] = .string("http://anna:secret@127.0.0.1:\(port)")
      }
      let server = try await cloud.startProgram()
      try await laptop.add("Item", "A")
      #expect(try await cloud.pushes().compactMap(\.event) == ["created A"])
      let target = "127.0.0.1:\(await cloud.simulator.port)"
      #expect(proxy.heads.count == 1 && proxy.tunnelCount == 1)
      #expect(proxy.heads.first?.hasPrefix("CONNECT \(target) HTTP/1.1\r\n") == true)
      #expect(!server.output.contains("secret"))
      try await server.kill()
    }
  }

  @Test("A proxy that refuses: the log says why, and the pushes come once it lets them through")
  func refusingProxy() async throws {
    try await Cloud.run { cloud in
      let laptop = try await prepare(cloud)
      let proxy = try SimulatedProxy(.answer("HTTP/1.1 403 Forbidden\r\n\r\n"))
      defer { proxy.stop() }
      let port = proxy.port
      try await cloud.makeRoomForProgram { $0["proxy"] = .string("http://127.0.0.1:\(port)") }
      let server = try await cloud.startProgram()
      // So many attempts without an answer, and the route rests.
      let names = (0..<20).map { "item-\($0)" }
      try await laptop.modifyRecords(saving: names.map { CKRecord("Item", $0) }, deleting: [])
      let line = try await server.line(containing: "pushes are paused")
      #expect(line.contains("container=\(Cloud.container) "), "\(line)")
      #expect(
        line.contains("proxy 127.0.0.1:\(port) refused to connect: 403 Forbidden"),
        "\(line)")
      #expect(await cloud.simulator.received.isEmpty)
      proxy.behave(.tunnel)
      let pushes = try await cloud.pushes(names.count)
      #expect(Set(pushes.compactMap(\.recordName)) == Set(names))
      #expect(await cloud.simulator.received.count == names.count)
      try await server.line(containing: "pushes continue")
      try await server.kill()
    }
  }
}
