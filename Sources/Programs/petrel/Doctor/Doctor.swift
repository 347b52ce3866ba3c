import PetrelServer
import PushChannels

/// Looks at all that a server depends on. Nothing is changed.
struct Doctor: Sendable {
  let configuration: ConfigurationMatter
  /// Whether nothing beyond this machine is asked.
  let isOffline: Bool
  /// Whether the whole store is read, however long it takes.
  let isDeep: Bool

  /// Looks at everything at once; only the clock waits for what others say of the time.
  func examine() async -> DoctorReport {
    let samples = ClockSamples()
    let examinations = examinations(samples)
    var sections = await withTaskGroup(of: (Int, DoctorReport.Section).self) { group in
      for (number, examination) in examinations.enumerated() {
        group.addTask {
          (
            number,
            DoctorReport.Section(
              matter: examination.matter, findings: await examination.findings())
          )
        }
      }
      var sections: [(Int, DoctorReport.Section)] = []
      for await section in group { sections.append(section) }
      return sections.sorted { $0.0 < $1.0 }.map(\.1)
    }
    let settings = configuration.configuration
    let clock = Examination(asking: "clock") {
      ClockMatter(configuration: settings, samples: samples.all).findings()
    }
    sections.append(.init(matter: clock.matter, findings: await clock.findings()))
    return DoctorReport(sections: sections.filter { !$0.findings.isEmpty })
  }

  private func examinations(_ samples: ClockSamples) -> [Examination] {
    let (matter, settings, isOffline, isDeep) = (
      configuration, configuration.configuration, isOffline, isDeep
    )
    let patience =
      isDeep ? Duration.seconds(366 * 86_400) : DatabaseMatter.patience + .seconds(10)
    var examinations = [
      Examination(asking: "configuration") { matter.findings() },
      Examination(asking: "keys") {
        KeyMatter(configuration: settings, sources: matter.sources).findings()
      },
      Examination(asking: "push channels") {
        let findings = PushChannelRegistry.all.flatMap {
          $0.findings(in: settings.channelSettings, at: .now)
        }
        return findings.isEmpty ? [.ok("none is set up, so no pushes leave")] : findings
      },
      Examination(asking: "data directory") { DirectoryMatter(settings).findings() },
      Examination(asking: "disk") {
        DiskMatter(directory: settings.dataDirectory).findings()
      },
      Examination("store", within: patience) {
        if let address = settings.postgreSQL {
          await PostgreSQLMatter(address: address).findings()
        } else {
          await DatabaseMatter(path: settings.storePath, isDeep: isDeep).findings()
        }
      },
      Examination("assets") {
        guard let address = settings.postgreSQL else { return [] }
        return await AssetFolderMatter(address: address, directory: settings.assetsPath).findings()
      },
      Examination("devices") { await DevicesMatter(configuration: settings).findings() },
      Examination(asking: "open files") { LimitsMatter().findings() },
      Examination("server") {
        await ServerMatter(configuration: settings, isOffline: isOffline).findings()
      },
    ]
    guard !isOffline else { return examinations }
    examinations += PushChannelRegistry.all.map { channel in
      Examination(channel.name) {
        await channel.findings(askingWith: settings.channelSettings) {
          samples.note($0, from: $1)
        }
      }
    }
    examinations.append(
      Examination("sign-in") {
        await IssuersMatter(configuration: settings, samples: samples).findings()
      })
    return examinations
  }
}
