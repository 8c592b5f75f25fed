// The settings of attachments: sizes, concurrent transfers, and the virus scanner.
internal import Domain

extension SettingGroup {
    static let attachments = SettingGroup(
        "Attachments",
        [
            Setting(
                "attachment_bytes_max", \.limits.attachmentByteCountMax, .integer(1...5_368_709_120), "BYTES",
                "maximum size of an attachment, in bytes (52428800 is 50 MiB)"),
            Setting(
                "attachment_quota_bytes", \.limits.attachmentQuotaByteCount, .integer(1...1_125_899_906_842_624),
                "BYTES", "maximum stored bytes of the attachments of an account (1073741824 is 1 GiB)"),
            Setting(
                "unused_attachments_max", \.limits.unusedAttachmentCountMax, .integer(1...1_000_000), "COUNT",
                "maximum attachments of an account that no message and no picture uses, unfinished uploads included"),
            Setting(
                "unused_attachment_hours", \.limits.unusedAttachmentHours, .integer(1...8_760), "HOURS",
                "delete an attachment that was not used for this many hours, and an upload that received nothing"),
            Setting(
                "uploads_max", \.limits.uploadCountMax, .integer(1...10_000), "COUNT",
                "maximum uploads in progress on a node"),
            Setting(
                "account_uploads_max", \.limits.accountUploadCountMax, .integer(1...10_000), "COUNT",
                "maximum uploads of one account in progress on a node"),
            Setting(
                "downloads_max", \.limits.downloadCountMax, .integer(1...100_000), "COUNT",
                "maximum downloads in progress on a node"),
            Setting(
                "account_downloads_max", \.limits.accountDownloadCountMax, .integer(1...100_000), "COUNT",
                "maximum downloads of one account in progress on a node"),
            Setting(
                "upload_104", \.sendsUploadInterims, .onOrOff, "on|off",
                "on: send 104 interim answers to resumable uploads; only without a proxy, or with one that is known "
                    + "to pass them: nginx breaks on them"),
            Setting(
                "scan_url", \.scanner, .optional(.scanner), "URL",
                "ClamAV daemon that scans attachments: clamd://host:3310 or clamd:///path/to/clamd.sock; unset: "
                    + "attachments are not scanned"),
            Setting(
                "scan_fail", \.scanFail, .word, "closed|open",
                "while the virus scanner is down: closed: attachments stay in state checking until it answers; open: "
                    + "they become ready"),
        ])
}
