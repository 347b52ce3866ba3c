import CloudKit
import JSONCoding
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct AdminCommandsTests {
  @Test("zones are listed, made and deleted", arguments: Way.allCases)
  func zones(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let place = "--database private --user anna"
      let saved = try await shell.inContainer("zones save Work Home \(place)")
      #expect(saved.status == 0 && saved.output == "saved Work\nsaved Home\n", "\(saved.output)")
      let list = try await shell.inContainer("zones list \(place) --json")
      let names = list.json.first?["zones"]?.array?.compactMap { $0["zoneName"]?.string }
      #expect(Set(names ?? []) == ["_defaultZone", "Work", "Home"])
      let deleted = try await shell.inContainer("zones delete Home Attic \(place)")
      #expect(deleted.status == 1 && deleted.output.contains("zone 'Attic'"), "\(deleted.output)")
      let left = try await shell.inContainer("zones list \(place)").output
      #expect(left.contains("Work") && !left.contains("Home"))
    }
  }

  @Test("subscriptions are saved, listed, shown and deleted", arguments: Way.allCases)
  func subscriptions(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      _ = try await shell.inContainer("records put a --type Quake magnitude:DOUBLE=1")
      let saved = try await shell.inContainer(
        "subscriptions save strong --subscriber anna --type Quake --fires-on create,update",
        ["--predicate", "magnitude > 5", "--alert", "A strong earthquake"])
      #expect(saved.status == 0 && saved.output == "saved strong\n", "\(saved.output)")
      let file: JSONValue = [
        "subscriptionID": "once", "subscriptionType": "query", "firesOn": ["delete"],
        "firesOnce": true, "zoneWide": true, "query": ["recordType": "Quake"],
      ]
      let second = try await shell.inContainer(
        "subscriptions save --subscriber ben --file - --json", input: file.text)
      #expect(second.json.first?["subscription"]?["firesOnce"] == true, "\(second.output)")

      let all = try await shell.inContainer("subscriptions list --json")
      #expect(all.json.first?["subscriptions"]?.array?.count == 2)
      let table = try await shell.inContainer("subscriptions list --subscriber anna")
      #expect(table.output.contains("magnitude > 5") && !table.output.contains("once"))
      let shown = try await shell.inContainer("subscriptions show strong")
      #expect(shown.output.contains("anna") && shown.output.contains("A strong earthquake"))
      let other: JSONValue = ["subscriptionID": "watch", "subscriptionType": "database"]
      let user = "--database private --user anna"
      _ = try await shell.inContainer("subscriptions save watch --type Quake \(user)")
      let replacing = try await shell.inContainer(
        "subscriptions save --file - \(user)", input: other.text)
      #expect(
        replacing.status == 0
          && replacing.output
            == "saved watch\npetrel: subscriptions save: it replaced the query subscription with the same ID\n",
        "\(replacing.output)")
      let deleted = try await shell.inContainer("subscriptions delete strong --subscriber anna")
      #expect(deleted.status == 0, "\(deleted.output)")
      let gone = try await shell.inContainer("subscriptions show strong --subscriber anna")
      #expect(gone.status == 1 && gone.output.contains("no subscription 'strong'"))
    }
  }

  @Test("a store in a file has one server at a time, and no list of them", arguments: Way.allCases)
  func servers(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let list = try await shell.petrel("servers list")
      #expect(list.status == 0 && list.output.hasPrefix("the store is in a file"), "\(list.output)")
      let json = try await shell.petrel("servers list --json")
      #expect(json.json.first == ["isShared": false, "servers": []], "\(json.output)")
    }
  }

  @Test("a store in a file has nobody to divide its databases among", arguments: Way.allCases)
  func partition(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      _ = try await shell.inContainer("records put a --type Quake")
      let whole = try await shell.inContainer("databases partition")
      #expect(whole.output == "one part: one server dispatches it\n")
      let divided = try await shell.inContainer("databases partition --parts 2")
      #expect(
        divided.status == 1 && divided.output.contains("--parts must be 1 here"),
        "\(divided.output)")
      let none = try await shell.inContainer("databases partition --parts 65")
      #expect(none.status == 64 && none.output.contains("from 1 to 64"), "\(none.output)")
    }
  }

  @Test("users and devices are shown, and devices forgotten", arguments: Way.allCases)
  func devices(_ way: Way) async throws {
    try await AdminShell.run(
      way,
      after: AdminShell.Preparation { cloud in
        for device in ["phone", "pad"] {
          try await cloud.registeredContainer(of: "anna", device: device)
        }
      }
    ) { shell in
      let users = try await shell.petrel("users list --json --limit all")
      #expect(users.json.map { $0["name"]?.string } == ["anna", "ben"])
      let paged = try await shell.petrel("users list --limit 1")
      #expect(paged.output.contains("anna") && paged.output.contains("there are more users"))
      let token = Cloud.deviceTokenText(of: "anna", device: "phone")
      let list = try await shell.petrel("devices list --user anna --json")
      let tokens = list.json.first?["devices"]?.array?.compactMap { $0["token"]?.string } ?? []
      #expect(tokens.count == 2 && tokens.contains(token), "\(list.output)")
      let removed = try await shell.petrel("devices remove \(token)")
      #expect(removed.status == 0, "\(removed.output)")
      let shown = try await shell.petrel("users show anna")
      #expect(shown.output.contains(Cloud.deviceTokenText(of: "anna", device: "pad")))
      #expect(!shown.output.contains(token))
      let again = try await shell.petrel("devices remove \(token)")
      #expect(again.status == 1 && again.output.contains("(NOT_FOUND)"), "\(again.output)")
      let out = try await shell.petrel("users sign-out anna --everywhere --json")
      #expect(out.json.first?["sessions"]?.int ?? 0 > 0, "\(out.output)")
    }
  }

  @Test("keys and schemas go both ways", arguments: Way.allCases)
  func keysAndSchemas(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      let made = try await shell.petrel(
        "keys add-api-token web --container iCloud.a --origins https://a.example --json")
      #expect(made.json.first?["token"]?.string?.count == 64, "\(made.output)")
      let admin = try await shell.petrel("keys add-admin-key --label second")
      #expect(admin.output.count == 65, "\(admin.output)")
      let server = try await shell.petrel(
        "keys add-server-key feed --container iCloud.a --new-private-key",
        [shell.cloud.directory + "/feed.pem"])
      #expect(server.status == 0 && server.output.count == 65, "\(server.output)")
      let list = try await shell.petrel("keys list --json")
      let keys = try #require(list.json.first?["keys"]?.array)
      #expect(keys.compactMap { $0["name"]?.string } == ["shell", "second", "web", "feed"])
      let identifier = keys[2]["identifier"]?.string ?? ""
      let revoked = try await shell.petrel("keys revoke \(identifier)")
      #expect(revoked.status == 0 && revoked.output.contains("web"), "\(revoked.output)")
      #expect(try await shell.petrel("keys list").output.contains("REVOKED"))

      _ = try await shell.inContainer("records put a --type Note title:STRING=x")
      let exported = try await shell.inContainer("schema export")
      #expect(exported.output.contains("title           STRING QUERYABLE"), "\(exported.output)")
      let dryRun = try await shell.inContainer("schema deploy --dry-run --json")
      #expect(dryRun.json.first?["changes"]?.array?.isEmpty == false, "\(dryRun.output)")
      let deployed = try await shell.inContainer("schema deploy")
      #expect(deployed.status == 0 && deployed.output.contains("Note"), "\(deployed.output)")
      let same = try await shell.inContainer("schema deploy")
      #expect(same.output == "nothing to change\n", "\(same.output)")
      let status = try await shell.petrel("schema status --json")
      #expect(status.json.first?["indexWork"] == [])
    }
  }

  @Test("what happened is explained and listed, with the names of users", arguments: Way.allCases)
  func explanations(_ way: Way) async throws {
    try await AdminShell.run(
      way,
      after: AdminShell.Preparation { cloud in
        let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        let laptop = try await cloud.container(of: "anna", device: "laptop")
        try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
        try await laptop.privateCloudDatabase.add("Item", "loaf")
        try await cloud.pushes()
        let server = await cloud.server
        try await eventually("the push is settled") { server.deliveryMetrics.underWay == 0 }
      }
    ) { shell in
      let place = "--database private --user anna"
      let record = try await shell.inContainer("explain record loaf \(place)")
      #expect(record.status == 0, "\(record.output)")
      for part in ["Item created by anna (_", "fired", "delivered"] {
        #expect(record.output.contains(part), "\(record.output)")
      }
      let subscription = try await shell.inContainer("explain subscription subscription \(place)")
      #expect(subscription.output.contains("loaf created"), "\(subscription.output)")
      let dryRun: JSONValue = [
        "event": "create", "record": ["recordName": "x", "recordType": "Item", "fields": [:]],
      ]
      let fired = try await shell.inContainer(
        "explain dry-run record --file - \(place)", input: dryRun.text)
      #expect(fired.output.contains("would fire: subscription of anna"), "\(fired.output)")
      let limited = try await shell.inContainer(
        "explain dry-run record --file - --limit 3 \(place)", input: dryRun.text)
      #expect(limited.status == 64 && limited.output.contains("--limit is for the changes of"))
      let list = try await shell.inContainer("notifications list --text loaf \(place)")
      #expect(list.output.contains("apns delivered"), "\(list.output)")
      let json = try await shell.inContainer("notifications list --json \(place)")
      #expect(json.json.first?["pushes"]?.array?.first?["recordName"]?.string == "loaf")
    }
  }

  @Test("notifications are watched as they are logged")
  func watch() async throws {
    try await AdminShell.run(
      .overHTTP,
      after: AdminShell.Preparation { cloud in
        let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        try await phone.privateCloudDatabase.subscribe(where: .all)
      }
    ) { shell in
      let key = shell.cloud.directory + "/admin.key"
      let program = try Program(
        "petrel",
        [
          "notifications", "watch", "--json", "--count", "2", "--text", "loaf", "--server",
          await shell.cloud.serverURL.absoluteString, "--key-file", key,
        ], in: shell.cloud.directory)
      try await program.line(containing: "watching")
      let laptop = try await shell.cloud.container(of: "anna", device: "laptop")
      for name in ["loaf-1", "cake", "loaf-2"] {
        try await laptop.privateCloudDatabase.add("Item", name)
      }
      #expect(try await program.end() == 0)
      let names = AdminShell.Outcome(status: 0, output: program.output).json
        .compactMap { $0["recordName"]?.string }
      #expect(Set(names) == ["loaf-1", "loaf-2"], "\(program.output)")
    }
  }

  @Test("what is saved without a server fires when one starts")
  func deliveredLater() async throws {
    try await AdminShell.run(
      .onStore,
      after: AdminShell.Preparation { cloud in
        try await cloud.registeredContainer(of: "anna", device: "phone")
      }
    ) { shell in
      let place = "--database private --user anna"
      _ = try await shell.inContainer("records put first --type Item n:INT64=1 \(place)")
      let saved = try await shell.inContainer(
        "subscriptions save all --type Item --alert New \(place)")
      #expect(saved.status == 0, "\(saved.output)")
      let put = try await shell.inContainer("records put second --type Item n=2 \(place)")
      #expect(put.status == 0, "\(put.output)")
      try await shell.cloud.startServer()
      let pushes = try await shell.cloud.settledPushes()
      #expect(pushes.compactMap(\.recordName) == ["second"])
    }
  }

  @Test("beside a server without a socket a subscription works at once, and records are refused")
  func besideServer() async throws {
    try await AdminShell.run(
      .overHTTP,
      after: AdminShell.Preparation { cloud in
        try await cloud.registeredContainer(of: "anna", device: "phone")
        let laptop = try await cloud.container(of: "anna", device: "laptop")
        // The server has the matching index of a database with a subscription in memory.
        try await laptop.privateCloudDatabase.subscribe("other", to: "Other", where: .all)
        try await laptop.privateCloudDatabase.add("Item", "before")
      }
    ) { shell in
      let store = try await shell.switching(to: .onStore)
      let place = "--database private --user anna"
      for command in [
        "records put a --type Item n:INT64=1", "records delete before", "zones save Z",
      ] {
        let refused = try await store.inContainer("\(command) \(place)")
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("name a server with --server"), "\(refused.output)")
      }
      let saved = try await store.inContainer(
        "subscriptions save all --type Item --alert New \(place)")
      #expect(saved.status == 0, "\(saved.output)")
      let put = try await shell.inContainer("records put after --type Item n:INT64=1 \(place)")
      #expect(put.status == 0, "\(put.output)")
      let pushes = try await shell.cloud.settledPushes()
      #expect(pushes.compactMap(\.recordName) == ["after"])
      // And none after it is deleted by the same way.
      #expect(try await store.inContainer("subscriptions delete all \(place)").status == 0)
      _ = try await shell.inContainer("records put later --type Item n=1 \(place)")
      #expect(try await shell.cloud.settledPushes().compactMap(\.recordName) == ["after"])
    }
  }
}
