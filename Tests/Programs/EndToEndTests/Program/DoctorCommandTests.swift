import CloudKit
import Cryptography
import JSONCoding
import PythonPrograms
import StoreModel
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

/// Whoever runs the tests may do as another user, and make mounts of their own.
private enum Launcher {
  static let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  static let ownMounts = ["/usr/bin/unshare", "--mount"]
}

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct DoctorCommandTests {
  @Test("a sound setup has no problem, and APNs believes the sender")
  func sound() async throws {
    try await DoctorSetup.run { setup in
      let report = try await setup.report()
      #expect(report.status == 0, "\(report.text)")
      #expect(report.findings("problem") == [])
      let checks = Set((report.json["findings"]?.array ?? []).compactMap { $0["check"]?.string })
      #expect(
        checks == [
          "configuration", "keys", "push channels", "data directory", "disk", "store", "devices",
          "open files",
          "server", "APNs", "clock",
        ])
      #expect(report.findings("ok", in: "APNs").contains { $0.contains("accepts pushes") })
      #expect(report.findings("ok", in: "store").contains { $0.contains("no damage") })
      #expect(report.findings("ok", in: "data directory").count == 1)
      // Whatever is not well has an advice.
      for finding in report.json["findings"]?.array ?? [] {
        #expect((finding["mark"]?.string == "ok") == (finding["advice"] == nil), "\(finding.text)")
      }
      // Nothing was accepted: nobody can have got it.
      #expect(try setup.simulator.received.allSatisfy { !$0.isAccepted })
    }
  }

  @Test("people get a line for each finding and one for what to do, without colours in a file")
  func text() async throws {
    try await DoctorSetup.run { setup in
      chmod(setup.keyFile, 0o644)
      let program = try Program(
        "petrel", ["doctor", "--offline", "--data", setup.data], in: setup.folder)
      #expect(try await program.end() == 1)
      let output = program.output
      #expect(output.hasPrefix("configuration\n  ok       the configuration is valid"), "\(output)")
      #expect(output.contains("\n           → chmod 640 \(setup.keyFile)\n"), "\(output)")
      #expect(output.contains("1 problem"), "\(output)")
      #expect(!output.contains("\u{1B}"))
    }
  }

  @Test("every mistake of the configuration is told, with its place")
  func mistakes() async throws {
    try await DoctorSetup.run { setup in
      try """
      {
        "prot": 1,
        "limits": {"waitingPushes": "many"},
        "containers": {"\(DoctorSetup.container)": {"apns": {"topics": ["a.b"]}}}
      }
      """.write(toFile: setup.data + "/server.json", atomically: true, encoding: .utf8)
      let report = try await setup.report(environment: ["PETREL_LOGLEVLE": "debug"])
      #expect(report.status == 1)
      let problems = report.findings("problem", in: "configuration")
      #expect(problems.count == 4, "\(problems)")
      let place = setup.data + "/server.json:"
      for part in [
        "PETREL_LOGLEVLE: the configuration has no key", "\(place)2: unknown key 'prot'",
        "\(place)3: limits: 'waitingPushes'", "'keyFile' is missing",
      ] {
        #expect(problems.contains { $0.contains(part) }, "\(part): \(problems)")
      }
      // What does not depend on it was looked at all the same.
      #expect(report.findings("ok", in: "store").count == 2)
    }
  }

  @Test("a certificate that has expired is a problem, one that will soon a warning")
  func certificates() async throws {
    try await DoctorSetup.run { setup in
      func useCertificate(topic: String, days: Int, since age: Double) throws {
        let made = Date(timeIntervalSinceNow: -age * 86_400)
        let certificate = try CertificateAuthority(commonName: "Apple", now: made)
          .issueClientCertificate(
            commonName: "Apple Push Services: \(topic)", days: days, now: made)
        let file = setup.folder + "/aps.pem"
        try (certificate.certificateChainPEM + certificate.privateKeyPEM).write(
          toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o600)
        try setup.configure { apns, _ in
          for key in ["teamID", "keyID", "keyFile"] { apns[key] = nil }
          apns["certificateFile"] = .string(file)
        }
      }
      try useCertificate(topic: "org.example.Doctor", days: 10, since: 20)
      let expired = try await setup.report("--offline")
      #expect(expired.status == 1)
      #expect(
        expired.findings("problem", in: "push channels").first?.contains("expired on") == true,
        "\(expired.text)")
      try useCertificate(topic: "org.example.Doctor", days: 30, since: 20)
      let soon = try await setup.report("--offline")
      #expect(soon.status == 0)
      #expect(
        soon.findings("warning", in: "push channels").first?.contains("expires in") == true,
        "\(soon.text)")
      try useCertificate(topic: "org.example.Other", days: 365, since: 20)
      let other = try await setup.report("--offline")
      #expect(
        other.findings("problem", in: "push channels").first?.contains("org.example.Other") == true,
        "\(other.text)")
    }
  }

  @Test(
    "a key that the server's user may not read is a problem, and so is a directory it may not write",
    .enabled(if: Program.canRun("petrel", through: Launcher.nobody), "no other user can be"))
  func rights() async throws {
    try await DoctorSetup.run { setup in
      for path in [setup.folder, setup.data] { chmod(path, 0o777) }
      for path in ["/apns", "/apns/authority.pem"] { chmod(setup.folder + path, 0o755) }
      for name in try FileManager.default.subpathsOfDirectory(atPath: setup.data) + [""] {
        chown(setup.data + "/" + name, 65_534, 65_534)
      }
      chmod(setup.keyFile, 0o600)
      let unreadable = try await setup.report("--offline", through: Launcher.nobody)
      #expect(unreadable.status == 1)
      let problem = unreadable.findings("problem", in: "keys").first ?? ""
      #expect(
        problem.contains("keyFile \(setup.keyFile) cannot be read")
          && problem.contains("chmod 640"),
        "\(unreadable.text)")
      #expect(unreadable.findings("problem").count == 1, "\(unreadable.text)")

      chmod(setup.keyFile, 0o640)
      chown(setup.keyFile, 0, 65_534)
      chmod(setup.data, 0o755)
      chown(setup.data, 0, 0)
      let unwritable = try await setup.report("--offline", through: Launcher.nobody)
      #expect(
        unwritable.findings("problem", in: "data directory").first?
          .contains("\(setup.data) cannot be written: Permission denied") == true,
        "\(unwritable.text)")
      // A store that a command left which root ran.
      chown(setup.data, 65_534, 65_534)
      chown(setup.storePath, 0, 0)
      let foreign = try await setup.report("--offline", through: Launcher.nobody)
      #expect(
        foreign.findings("problem", in: "data directory").first?
          .contains("chown nobody \(setup.storePath)") == true, "\(foreign.text)")
    }
  }

  @Test(
    "before the first start, a directory that only the service manager may make is no problem",
    .enabled(if: Program.canRun("petrel", through: Launcher.nobody), "no other user can be"))
  func beforeFirstStart() async throws {
    try await DoctorSetup.run { setup in
      chmod(setup.folder, 0o755)
      let none = setup.folder + "/none"
      let report = try await setup.report("--offline", through: Launcher.nobody, data: none)
      #expect(report.status == 0, "\(report.text)")
      #expect(report.findings("problem") == [], "\(report.text)")
      #expect(
        report.findings("warning", in: "data directory").first?.hasPrefix(
          "\(none) does not exist, so no server has started with it yet; this user cannot create it "
            + "in \(setup.folder): Permission denied → start the server") == true, "\(report.text)")
      #expect(
        report.findings("ok", in: "store").first?.hasPrefix("there is no store yet") == true)
    }
  }

  @Test("files of the store that others may read are named, with what makes them private")
  func openFiles() async throws {
    try await DoctorSetup.run { setup in
      let assets = setup.storePath + "-assets"
      #expect(mkdir(assets + "/1", 0o750) == 0)
      chmod(assets + "/1", 0o750)
      chmod(setup.storePath, 0o644)
      chmod(setup.data, 0o755)
      let report = try await setup.report("--offline")
      #expect(report.status == 0, "\(report.text)")
      let warnings = report.findings("warning", in: "data directory")
      #expect(
        warnings == [
          "\(setup.data) has mode 755, \(setup.storePath) has mode 644: users other than the "
            + "owner can read the store, with all records and password hashes → "
            + "chmod go= \(setup.data) \(setup.storePath)",
          "\(assets)/1 has mode 750: users other than the owner can read assets → chmod -R go= \(assets)",
        ])
      // Its advice, taken.
      for path in [setup.data, setup.storePath, assets + "/1"] {
        var information = stat()
        #expect(stat(path, &information) == 0)
        chmod(path, information.st_mode & 0o700)
      }
      let after = try await setup.report("--offline")
      #expect(after.findings("warning", in: "data directory") == [], "\(after.text)")
    }
  }

  @Test("a key that every user may read is a problem")
  func exposedKey() async throws {
    try await DoctorSetup.run { setup in
      chmod(setup.keyFile, 0o644)
      let report = try await setup.report("--offline")
      #expect(report.status == 1)
      #expect(
        report.findings("problem") == [
          "containers.\(DoctorSetup.container).apns.keyFile \(setup.keyFile) is open to every user "
            + "of this machine (mode 644) → chmod 640 \(setup.keyFile)"
        ])
    }
  }

  @Test("a sender whom APNs does not believe is a problem")
  func refused() async throws {
    try await DoctorSetup.run { setup in
      try setup.configure { apns, _ in apns["keyID"] = "WRONGKEY01" }
      let report = try await setup.report()
      #expect(report.status == 1)
      let problem = report.findings("problem", in: "APNs").first ?? ""
      #expect(
        problem.contains("refuses this sender: 403 InvalidProviderToken")
          && problem.contains("check the key file, the key ID and the team ID"), "\(report.text)")
    }
  }

  @Test("an APNs that is not there is a problem, and is not asked for with --offline")
  func unreachable() async throws {
    try await DoctorSetup.run { setup in
      try await setup.simulator.program.kill()
      let report = try await setup.report()
      #expect(report.status == 1)
      #expect(
        report.findings("problem", in: "APNs").first?.contains("cannot be reached") == true,
        "\(report.text)")
      let offline = try await setup.report("--offline")
      #expect(offline.status == 0, "\(offline.text)")
      #expect(offline.findings("ok", in: "APNs") == [])
    }
  }

  @Test("an APNs that takes connections and says nothing holds nothing up for long")
  func silent() async throws {
    try await DoctorSetup.run { setup in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let port = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          bind(descriptor, pointer, length)
          listen(descriptor, 8)
          getsockname(descriptor, pointer, &length)
        }
        return UInt16(bigEndian: pointer.pointee.sin_port)
      }
      try setup.configure { apns, _ in apns["port"] = .int(Int64(port)) }
      let report = try await setup.report()
      #expect(
        report.findings("problem", in: "APNs").first?.contains("in time") == true, "\(report.text)")
    }
  }

  @Test("devices that no setting reaches are a warning, with the setting that would")
  func devicesWithoutWay() async throws {
    try await DoctorSetup.run { setup in
      let store = try await Store.open(at: .file(path: setup.storePath))
      for (token, container) in [("aa", DoctorSetup.container), ("bb", "iCloud.org.example.Old")] {
        try await store.devices.saveDeviceToken(
          DeviceToken(
            kind: .apns, token: token, container: container, environment: .production,
            apnsEnvironment: .production, userRecordName: "_anna", deviceID: nil,
            registered: .now))
      }
      await store.close()
      let report = try await setup.report("--offline")
      #expect(report.status == 0, "\(report.text)")
      let warnings = report.findings("warning", in: "devices")
      #expect(warnings.count == 1, "\(report.text)")
      #expect(warnings.first?.hasPrefix("iCloud.org.example.Old has 1 APNs device, but") == true)
      #expect(warnings.first?.contains("set up containers.iCloud.org.example.Old.apns") == true)
    }
  }

  @Test("a store of a newer program is a problem")
  func newerStore() async throws {
    try await DoctorSetup.run { setup in
      let store = try SQLiteConnection(path: setup.storePath)
      try store.execute("UPDATE schema_version SET version = 9999")
      store.close()
      let report = try await setup.report("--offline")
      #expect(report.status == 1)
      #expect(
        report.findings("problem", in: "store").first?.contains("the store has schema version 9999")
          == true,
        "\(report.text)")
    }
  }

  @Test("a damaged store is a problem, wherever the damage is", arguments: [0, 3, 9])
  func damage(page: Int) async throws {
    try await DoctorSetup.run { setup in
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: setup.storePath))
      try file.seek(toOffset: UInt64(page * 4_096))
      try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
      try file.close()
      let report = try await setup.report("--offline")
      #expect(report.status == 1)
      #expect(
        report.findings("problem", in: "store").first?.contains("the store is damaged") == true,
        "\(report.text)")
    }
  }

  @Test(
    "a disk with little room is a problem, and one in memory a warning",
    .enabled(if: Program.canRun("petrel", through: Launcher.ownMounts), "no mounts can be made"))
  func littleRoom() async throws {
    try await DoctorSetup.run { setup in
      let mount = setup.folder + "/small"
      try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
      let report = try await setup.report(
        "--offline",
        through: Launcher.ownMounts + [
          "/bin/sh", "-c", "mount -t tmpfs -o size=16m none \"$0\" && exec \"$@\"", mount,
        ], data: mount)
      #expect(report.status == 1)
      #expect(
        report.findings("problem", in: "disk").first?.contains("16 MiB are free") == true,
        "\(report.text)")
      #expect(
        report.findings("warning", in: "disk").first?.contains("tmpfs") == true, "\(report.text)")
    }
  }

  @Test(
    "how far the clock is off shows in what others answer",
    .enabled(if: Python.isInstalled, "no Python"))
  func clock() async throws {
    try await DoctorSetup.run { setup in
      let issuer = try Python(
        """
        import json, time
        from email.utils import formatdate
        from http.server import BaseHTTPRequestHandler, HTTPServer
        class Issuer(BaseHTTPRequestHandler):
          def date_time_string(self, timestamp=None):
            return formatdate(time.time() - 3600, usegmt=True)
          def do_GET(self):
            here = f"http://127.0.0.1:{server.server_port}"
            body = {"keys": []} if self.path == "/keys" else {"issuer": here,
              "authorization_endpoint": here + "/a", "token_endpoint": here + "/t",
              "jwks_uri": here + "/keys"}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())
          def log_message(self, *arguments): pass
        server = HTTPServer(("127.0.0.1", 0), Issuer)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """)
      defer { issuer.kill() }
      let url = "http://127.0.0.1:\(try await issuer.line(beginningWith: "port "))"
      try setup.configure { _, all in
        all["signIn"] = [
          "issuers": ["here": ["issuer": .string(url), "clientID": "c", "label": "Here"]]
        ]
      }
      let report = try await setup.report()
      #expect(report.status == 1)
      #expect(report.findings("ok", in: "sign-in").count == 1, "\(report.text)")
      let problem = report.findings("problem", in: "clock").first ?? ""
      #expect(
        problem.firstMatch(of: /the clock is (3599|360\d) s ahead of that of http/) != nil,
        "\(report.text)")
    }
  }

  @Test("a server that runs is asked for its health, and the store beside it is looked through")
  func runningServer() async throws {
    try await DoctorSetup.run { setup in
      let server = try Program(
        "petrel", ["serve", "--data", setup.data], in: setup.folder)
      let line = try await server.line(containing: "listens on")
      let port = line.split(separator: ":").last.map(String.init) ?? ""
      let report = try await setup.report("--port", port)
      #expect(report.status == 0, "\(report.text)")
      #expect(
        report.findings("ok", in: "server").first?.contains("a server runs and is ready") == true,
        "\(report.text)")
      server.signal(SIGSTOP)
      let stuck = try await setup.report("--port", port)
      server.signal(SIGCONT)
      #expect(stuck.findings("problem", in: "server").count == 1, "\(stuck.text)")
      // The port is another program's now, as far as another data directory is concerned.
      let other = try await setup.report("--port", port, data: setup.folder + "/other")
      #expect(
        other.findings("problem", in: "server").first?.contains("another program listens") == true,
        "\(other.text)")
      try await server.kill()
    }
  }

  @Test("nothing is changed: no directory made, no log copied, no file left")
  func changesNothing() async throws {
    try await DoctorSetup.run { setup in
      // A server that was killed leaves a log behind.
      let server = try Program("petrel", ["serve", "--data", setup.data], in: setup.folder)
      try await server.line(containing: "listens on")
      let users = try Program(
        "petrel", ["users", "add", "ben", "--data", setup.data], in: setup.folder)
      #expect(try await users.end() == 0)
      try await server.kill()
      let before = try setup.snapshot(of: setup.data)
      #expect(before["petrel.sqlite-wal"]?.hasPrefix("0 ") == false, "\(before)")
      let report = try await setup.report("--offline", "--deep")
      #expect(report.status == 0, "\(report.text)")
      #expect(try setup.snapshot(of: setup.data) == before)

      let missing = try await setup.report("--offline", data: setup.folder + "/none")
      #expect(missing.status == 0, "\(missing.text)")
      #expect(!FileManager.default.fileExists(atPath: setup.folder + "/none"))
    }
  }
}
