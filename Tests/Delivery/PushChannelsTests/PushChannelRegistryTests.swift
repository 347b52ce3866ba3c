import CloudKitModel
import OutboundHTTP
import PushChannels
import Settings
import StoreModel
import Testing

struct PushChannelRegistryTests {
  @Test("each kind of device that is pushed to has a channel of its own, and no other has one")
  func kinds() {
    for kind in DeviceToken.Kind.allCases {
      #expect(PushChannelRegistry.channel(of: kind)?.kind == (kind.isPushed ? kind : nil))
    }
    #expect(PushChannelRegistry.all.map { $0.kind } == DeviceToken.Kind.allCases.filter(\.isPushed))
  }

  @Test("what people read of the channels tells them apart")
  func names() {
    for texts in [
      PushChannelRegistry.all.map { $0.name }, PushChannelRegistry.all.map { $0.deviceName },
      PushChannelRegistry.all.map { $0.peers },
      PushChannelRegistry.all.map { $0.key(container: "iCloud.a") },
    ] {
      #expect(Set(texts).count == PushChannelRegistry.all.count, "\(texts)")
    }
  }

  @Test("a channel is set up by the key that it names, and by no other")
  func keys() {
    let apns = APNsSettings(topics: ["t"], credential: .key(file: "k", keyID: "k", teamID: "t"))
    let cases: [(PushChannelSettings, DeviceToken.Kind, String)] = [
      (
        .init(server: .init { $0.webPush = .init(subject: "s") }, containers: [:]), .webPush,
        "webPush"
      ),
      (.init(server: .init { $0.webhooks = .init() }, containers: [:]), .webhook, "webhooks"),
      (
        .init(server: .init(), containers: ["iCloud.a": .init { $0.apns = apns }]), .apns,
        "containers.iCloud.a.apns"
      ),
    ]
    for (settings, kind, key) in cases {
      for channel in PushChannelRegistry.all {
        #expect(
          channel.reaches("iCloud.a", bundleID: nil, with: settings) == (channel.kind == kind))
      }
      #expect(PushChannelRegistry.channel(of: kind)?.key(container: "iCloud.a") == key)
    }
    #expect(!APNsChannel.reaches("iCloud.b", bundleID: nil, with: cases[2].0))
    #expect(APNsChannel.reaches("iCloud.a", bundleID: "t", with: cases[2].0))
    #expect(!APNsChannel.reaches("iCloud.a", bundleID: "t.mac", with: cases[2].0))
  }

  @Test("settings are equal when those of all channels are")
  func equality() {
    var settings = ChannelSettings { $0.webhooks = WebhookSettings() }
    let before = settings
    #expect(settings == ChannelSettings { $0.webhooks = WebhookSettings() })
    settings.webhooks?.webhooksPerKey += 1
    #expect(settings != before)
    settings = before
    settings.webPush = WebPushSettings(subject: "mailto:a@example.com")
    #expect(settings != before)
    settings.webPush = nil
    #expect(settings == before)
    #expect(settings.hashValue == before.hashValue)
  }

  @Test("what is posted without TLS is named with the key that allows it")
  func transport() {
    var webhooks = WebhookSettings()
    #expect(webhooks.outbound.findings(in: "webhooks") == [])
    webhooks.outbound.allowsHTTP = true
    let settings = PushChannelSettings(
      server: ChannelSettings { $0.webhooks = webhooks }, containers: [:])
    let findings = PushChannelRegistry.all.flatMap { $0.findings(in: settings, at: .now) }
    #expect(findings.map(\.mark) == [.warning])
    #expect(findings.first?.text.hasPrefix("webhooks.allowsHTTP:") == true)
  }
}
