import CloudKitModel
import Testing

struct NotificationInfoTests {
  @Test("An empty info is silent")
  func empty() {
    #expect(!NotificationInfo().isVisible)
    #expect(!NotificationInfo().hasAlert)
    #expect(NotificationInfo().referencedFields.isEmpty)
    #expect(throws: Never.self) { try NotificationInfo().validate() }
  }

  @Test("Any part of an alert makes an alert, and is visible")
  func alerts() {
    let parts: [WritableKeyPath<NotificationInfo, String?>] = [
      \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
      \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage,
    ]
    for part in parts {
      var info = NotificationInfo()
      info[keyPath: part] = "x"
      #expect(info.hasAlert && info.isVisible)
    }
  }

  @Test("A badge or a sound is visible without an alert; what else there is, is not")
  func silentParts() {
    var badge = NotificationInfo()
    badge.shouldBadge = true
    #expect(badge.isVisible && !badge.hasAlert)
    var sound = NotificationInfo()
    sound.soundName = "default"
    #expect(sound.isVisible && !sound.hasAlert)
    var silent = NotificationInfo()
    silent.shouldSendContentAvailable = true
    silent.shouldSendMutableContent = true
    silent.category = "c"
    silent.collapseIDKey = "k"
    silent.desiredKeys = ["a"]
    #expect(!silent.isVisible && !silent.hasAlert)
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
}
