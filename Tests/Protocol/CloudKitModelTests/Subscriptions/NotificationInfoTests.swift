import CloudKitModel
import Testing

struct NotificationInfoTests {
  @Test("An empty info is silent")
  func empty() {
    #expect(!NotificationInfo().isHighPriority)
    #expect(!NotificationInfo().hasAlert)
    #expect(NotificationInfo().referencedFields.isEmpty)
    #expect(throws: Never.self) { try NotificationInfo().validate() }
  }

  @Test("Any part of an alert makes an alert, and has high priority")
  func alerts() {
    let parts: [WritableKeyPath<NotificationInfo, String?>] = [
      \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
      \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage,
    ]
    for part in parts {
      var info = NotificationInfo()
      info[keyPath: part] = "x"
      #expect(info.hasAlert && info.isHighPriority)
    }
  }

  @Test("A badge, a sound, a category and mutable content have high priority without an alert")
  func partsBesideAnAlert() {
    for change: (inout NotificationInfo) -> Void in [
      { $0.shouldBadge = true }, { $0.soundName = "default" }, { $0.category = "c" },
      { $0.shouldSendMutableContent = true },
    ] {
      var info = NotificationInfo()
      info.shouldSendContentAvailable = true
      change(&info)
      #expect(info.isHighPriority && !info.hasAlert)
    }
  }

  @Test("What does not stand in aps, or only wakes the app, has no high priority")
  func silentParts() {
    var silent = NotificationInfo()
    silent.shouldSendContentAvailable = true
    silent.collapseIDKey = "k"
    silent.desiredKeys = ["a"]
    #expect(!silent.isHighPriority && !silent.hasAlert)
  }

  @Test("Desired keys and all arguments are referenced, each once")
  func referencedFields() {
    var info = NotificationInfo()
    info.desiredKeys = ["a", "b"]
    info.alertLocalizationArgs = ["b", "c"]
    info.titleLocalizationArgs = ["d"]
    info.subtitleLocalizationArgs = ["e", "e"]
    #expect(info.referencedFields == ["a", "b", "c", "d", "e"])
  }

  @Test("A text that no push can hold is refused, and names its property")
  func texts() throws {
    let parts: [(String, WritableKeyPath<NotificationInfo, String?>)] = [
      ("alertBody", \.alertBody), ("alertLocalizationKey", \.alertLocalizationKey),
      ("title", \.title), ("titleLocalizationKey", \.titleLocalizationKey),
      ("subtitle", \.subtitle), ("subtitleLocalizationKey", \.subtitleLocalizationKey),
      ("alertActionLocalizationKey", \.alertActionLocalizationKey),
      ("alertLaunchImage", \.alertLaunchImage), ("soundName", \.soundName),
      ("category", \.category),
    ]
    for (name, part) in parts {
      var info = NotificationInfo()
      info[keyPath: part] = String(repeating: "é", count: 2048)
      try info.validate()
      info[keyPath: part]? += "x"
      let error = #expect(throws: ModelError.self) { try info.validate() }
      #expect(error?.field == name && error?.reason.contains("4097 bytes") == true)
    }
  }
}
