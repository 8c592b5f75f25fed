// Names of emoji as Slack, Mattermost and Rocket.Chat write them: the common names, and no names of single workspaces.

enum EmojiNames {
    /// Names and emoji in turn. A text, because a dictionary of this size slows the compiler down.
    static let table = """
        smile 😄 smiley 😃 grinning 😀 grin 😁 laughing 😆 satisfied 😆 sweat_smile 😅 joy 😂 rofl 🤣
        rolling_on_the_floor_laughing 🤣 relaxed ☺️ blush 😊 innocent 😇 slightly_smiling_face 🙂
        slight_smile 🙂 upside_down_face 🙃 upside_down 🙃 wink 😉 relieved 😌 heart_eyes 😍
        smiling_face_with_3_hearts 🥰 kissing_heart 😘 kissing 😗 kissing_smiling_eyes 😙 kissing_closed_eyes 😚
        yum 😋 stuck_out_tongue 😛 stuck_out_tongue_winking_eye 😜 stuck_out_tongue_closed_eyes 😝 zany_face 🤪
        face_with_raised_eyebrow 🤨 raised_eyebrow 🤨 face_with_monocle 🧐 nerd_face 🤓 nerd 🤓 sunglasses 😎
        star-struck 🤩 star_struck 🤩 partying_face 🥳 smirk 😏 unamused 😒 disappointed 😞 pensive 😔
        worried 😟 confused 😕 slightly_frowning_face 🙁 white_frowning_face ☹️ frowning_face ☹️
        persevere 😣 confounded 😖 tired_face 😫 weary 😩 pleading_face 🥺 cry 😢 sob 😭 triumph 😤 angry 😠
        rage 😡 exploding_head 🤯 flushed 😳 hot_face 🥵 cold_face 🥶 scream 😱 fearful 😨 cold_sweat 😰
        disappointed_relieved 😥 sweat 😓 hugging_face 🤗 hugs 🤗 hugging 🤗 thinking_face 🤔 thinking 🤔
        face_with_hand_over_mouth 🤭 shushing_face 🤫 lying_face 🤥 no_mouth 😶 neutral_face 😐
        expressionless 😑 grimacing 😬 face_with_rolling_eyes 🙄 roll_eyes 🙄 rolling_eyes 🙄 hushed 😯
        frowning 😦 anguished 😧 open_mouth 😮 astonished 😲 yawning_face 🥱 sleeping 😴 drooling_face 🤤
        sleepy 😪 dizzy_face 😵 zipper_mouth_face 🤐 woozy_face 🥴 nauseated_face 🤢 face_vomiting 🤮
        sneezing_face 🤧 mask 😷 face_with_thermometer 🤒 face_with_head_bandage 🤕 money_mouth_face 🤑
        face_with_cowboy_hat 🤠 cowboy_hat_face 🤠 saluting_face 🫡 melting_face 🫠 face_holding_back_tears 🥹
        face_with_peeking_eye 🫣 smiling_imp 😈 imp 👿 japanese_ogre 👹 clown_face 🤡 hankey 💩 poop 💩 shit 💩
        ghost 👻 skull 💀 skull_and_crossbones ☠️ alien 👽 space_invader 👾 robot_face 🤖 robot 🤖
        jack_o_lantern 🎃 smiley_cat 😺 smile_cat 😸 joy_cat 😹 heart_eyes_cat 😻 scream_cat 🙀
        crying_cat_face 😿 see_no_evil 🙈 hear_no_evil 🙉 speak_no_evil 🙊 +1 👍 thumbsup 👍 thumbs_up 👍 -1 👎
        thumbsdown 👎 thumbs_down 👎 ok_hand 👌 pinching_hand 🤏 v ✌️ crossed_fingers 🤞 fingers_crossed 🤞
        the_horns 🤘 metal 🤘 i_love_you_hand_sign 🤟 call_me_hand 🤙 point_left 👈 point_right 👉 point_up_2 👆
        point_down 👇 point_up ☝️ raised_hand ✋ hand ✋ raised_back_of_hand 🤚
        raised_hand_with_fingers_splayed 🖐️ vulcan_salute 🖖 spock-hand 🖖 wave 👋 middle_finger 🖕 muscle 💪
        pray 🙏 handshake 🤝 writing_hand ✍️ clap 👏 open_hands 👐 raised_hands 🙌 palms_up_together 🤲
        fist ✊ fist_raised ✊ facepunch 👊 punch 👊 fist_oncoming 👊 left-facing_fist 🤛 right-facing_fist 🤜
        heart_hands 🫶 nail_care 💅 selfie 🤳 eyes 👀 eye 👁️ ear 👂 nose 👃 tongue 👅 lips 👄 brain 🧠 bow 🙇
        man-bowing 🙇‍♂️ woman-bowing 🙇‍♀️ raising_hand 🙋 man-raising-hand 🙋‍♂️
        woman-raising-hand 🙋‍♀️ facepalm 🤦 face_palm 🤦 man-facepalming 🤦‍♂️ woman-facepalming 🤦‍♀️
        shrug 🤷 man-shrugging 🤷‍♂️ woman-shrugging 🤷‍♀️ no_good 🙅 ok_woman 🙆
        information_desk_person 💁 baby 👶 boy 👦 girl 👧 man 👨 woman 👩 older_man 👴 older_woman 👵 cop 👮
        construction_worker 👷 detective 🕵️ technologist 🧑‍💻 male-technologist 👨‍💻
        female-technologist 👩‍💻 astronaut 🧑‍🚀 firefighter 🧑‍🚒 superhero 🦸 ninja 🥷 santa 🎅 angel 👼
        dancer 💃 man_dancing 🕺 runner 🏃 running 🏃 walking 🚶 family 👪 couple 👫 bust_in_silhouette 👤
        busts_in_silhouette 👥 speaking_head_in_silhouette 🗣️ footprints 👣 heart ❤️ orange_heart 🧡
        yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜 black_heart 🖤 white_heart 🤍
        brown_heart 🤎 broken_heart 💔 heavy_heart_exclamation_mark_ornament ❣️ two_hearts 💕
        revolving_hearts 💞 heartbeat 💓 heartpulse 💗 sparkling_heart 💖 cupid 💘 gift_heart 💝
        heart_decoration 💟 hearts ♥️ kiss 💋 100 💯 anger 💢 boom 💥 collision 💥 dizzy 💫 sweat_drops 💦
        dash 💨 bomb 💣 speech_balloon 💬 thought_balloon 💭 zzz 💤 dog 🐶 cat 🐱 mouse 🐭 hamster 🐹 rabbit 🐰
        fox_face 🦊 bear 🐻 panda_face 🐼 koala 🐨 tiger 🐯 lion_face 🦁 cow 🐮 pig 🐷 frog 🐸 monkey_face 🐵
        monkey 🐒 chicken 🐔 penguin 🐧 bird 🐦 baby_chick 🐤 duck 🦆 eagle 🦅 owl 🦉 bat 🦇 wolf 🐺 horse 🐴
        unicorn_face 🦄 unicorn 🦄 bee 🐝 honeybee 🐝 bug 🐛 butterfly 🦋 snail 🐌 beetle 🐞 ant 🐜 spider 🕷️
        turtle 🐢 snake 🐍 octopus 🐙 crab 🦀 fish 🐟 dolphin 🐬 whale 🐳 shark 🦈 elephant 🐘 camel 🐫 sloth 🦥
        goat 🐐 dragon 🐉 t-rex 🦖 paw_prints 🐾 feet 🐾 cactus 🌵 christmas_tree 🎄 evergreen_tree 🌲
        deciduous_tree 🌳 palm_tree 🌴 seedling 🌱 herb 🌿 shamrock ☘️ four_leaf_clover 🍀 maple_leaf 🍁
        fallen_leaf 🍂 mushroom 🍄 bouquet 💐 tulip 🌷 rose 🌹 sunflower 🌻 cherry_blossom 🌸 blossom 🌼
        earth_africa 🌍 earth_americas 🌎 earth_asia 🌏 full_moon 🌕 new_moon 🌑 crescent_moon 🌙
        sun_with_face 🌞 star ⭐ star2 🌟 sparkles ✨ zap ⚡ fire 🔥 rainbow 🌈 sunny ☀️ partly_sunny ⛅
        cloud ☁️ rain_cloud 🌧️ snowflake ❄️ snowman ⛄ umbrella ☔ ocean 🌊 droplet 💧 comet ☄️
        green_apple 🍏 apple 🍎 pear 🍐 tangerine 🍊 lemon 🍋 banana 🍌 watermelon 🍉 grapes 🍇 strawberry 🍓
        cherries 🍒 peach 🍑 pineapple 🍍 avocado 🥑 eggplant 🍆 tomato 🍅 corn 🌽 hot_pepper 🌶️ carrot 🥕
        potato 🥔 bread 🍞 croissant 🥐 cheese_wedge 🧀 egg 🥚 bacon 🥓 pancakes 🥞 poultry_leg 🍗 hamburger 🍔
        fries 🍟 pizza 🍕 hotdog 🌭 taco 🌮 burrito 🌯 popcorn 🍿 sushi 🍣 ramen 🍜 spaghetti 🍝 curry 🍛
        rice 🍚 icecream 🍦 ice_cream 🍨 doughnut 🍩 cookie 🍪 birthday 🎂 cake 🍰 cupcake 🧁 pie 🥧
        chocolate_bar 🍫 candy 🍬 lollipop 🍭 coffee ☕ tea 🍵 beer 🍺 beers 🍻 clinking_glasses 🥂
        wine_glass 🍷 cocktail 🍸 tropical_drink 🍹 champagne 🍾 bubble_tea 🧋 fork_and_knife 🍴 salt 🧂
        soccer ⚽ basketball 🏀 football 🏈 baseball ⚾ tennis 🎾 volleyball 🏐 8ball 🎱 ping_pong 🏓 golf ⛳
        dart 🎯 bowling 🎳 video_game 🎮 game_die 🎲 jigsaw 🧩 chess_pawn ♟️ trophy 🏆 medal 🏅
        sports_medal 🏅 first_place_medal 🥇 second_place_medal 🥈 third_place_medal 🥉 art 🎨 clapper 🎬
        microphone 🎤 headphones 🎧 musical_note 🎵 notes 🎶 guitar 🎸 trumpet 🎺 drum_with_drumsticks 🥁
        ticket 🎫 circus_tent 🎪 tada 🎉 confetti_ball 🎊 balloon 🎈 gift 🎁 ribbon 🎀 crown 👑 ring 💍 gem 💎
        checkered_flag 🏁 triangular_flag_on_post 🚩 rainbow-flag 🏳️‍🌈 rainbow_flag 🏳️‍🌈
        pirate_flag 🏴‍☠️ white_flag 🏳️ car 🚗 red_car 🚗 taxi 🚕 bus 🚌 ambulance 🚑 fire_engine 🚒
        police_car 🚓 truck 🚚 tractor 🚜 bike 🚲 motorcycle 🏍️ train 🚆 bullettrain_side 🚄 airplane ✈️
        rocket 🚀 helicopter 🚁 ship 🚢 boat ⛵ sailboat ⛵ anchor ⚓ construction 🚧 vertical_traffic_light 🚦
        rotating_light 🚨 fuelpump ⛽ house 🏠 office 🏢 hospital 🏥 school 🏫 factory 🏭
        beach_with_umbrella 🏖️ mountain ⛰️ camping 🏕️ desert_island 🏝️ statue_of_liberty 🗽
        world_map 🗺️ watch ⌚ iphone 📱 computer 💻 laptop 💻 keyboard ⌨️ desktop_computer 🖥️ printer 🖨️
        camera 📷 video_camera 📹 tv 📺 radio 📻 telephone_receiver 📞 phone ☎️ telephone ☎️ battery 🔋
        electric_plug 🔌 bulb 💡 flashlight 🔦 candle 🕯️ wastebasket 🗑️ moneybag 💰 dollar 💵 euro 💶
        money_with_wings 💸 credit_card 💳 wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ nut_and_bolt 🔩 gear ⚙️
        magnet 🧲 test_tube 🧪 microscope 🔬 telescope 🔭 pill 💊 syringe 💉 thermometer 🌡️ broom 🧹 key 🔑
        lock 🔒 unlock 🔓 closed_lock_with_key 🔐 door 🚪 bed 🛏️ shopping_trolley 🛒 package 📦 envelope ✉️
        email 📧 e-mail 📧 incoming_envelope 📨 inbox_tray 📥 outbox_tray 📤 mailbox 📫 postbox 📮 scroll 📜
        page_facing_up 📄 page_with_curl 📃 bookmark_tabs 📑 bar_chart 📊 chart_with_upwards_trend 📈
        chart_with_downwards_trend 📉 spiral_calendar_pad 🗓️ calendar 📆 date 📅 clipboard 📋 file_folder 📁
        open_file_folder 📂 newspaper 📰 notebook 📓 book 📖 open_book 📖 books 📚 bookmark 🔖 link 🔗
        paperclip 📎 triangular_ruler 📐 scissors ✂️ pushpin 📌 round_pushpin 📍 memo 📝 pencil 📝
        pencil2 ✏️ mag 🔍 mag_right 🔎 bell 🔔 no_bell 🔕 loudspeaker 📢 mega 📣 hourglass ⌛
        hourglass_flowing_sand ⏳ alarm_clock ⏰ stopwatch ⏱️ timer_clock ⏲️ label 🏷️ shield 🛡️ gun 🔫
        crystal_ball 🔮 coffin ⚰️ white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌
        negative_squared_cross_mark ❎ heavy_multiplication_x ✖️ heavy_plus_sign ➕ heavy_minus_sign ➖
        question ❓ grey_question ❔ exclamation ❗ heavy_exclamation_mark ❗ grey_exclamation ❕ bangbang ‼️
        interrobang ⁉️ warning ⚠️ no_entry ⛔ no_entry_sign 🚫 octagonal_sign 🛑 stop_sign 🛑
        radioactive_sign ☢️ biohazard_sign ☣️ recycle ♻️ infinity ♾️ arrow_up ⬆️ arrow_down ⬇️
        arrow_left ⬅️ arrow_right ➡️ arrow_heading_up ⤴️ arrow_heading_down ⤵️
        leftwards_arrow_with_hook ↩️ arrow_right_hook ↪️ arrows_counterclockwise 🔄 arrows_clockwise 🔃
        repeat 🔁 rewind ⏪ fast_forward ⏩ arrow_forward ▶️ arrow_up_small 🔼 arrow_down_small 🔽 back 🔙
        soon 🔜 top 🔝 new 🆕 free 🆓 up 🆙 cool 🆒 ok 🆗 sos 🆘 information_source ℹ️ red_circle 🔴
        large_orange_circle 🟠 large_yellow_circle 🟡 large_green_circle 🟢 large_blue_circle 🔵
        large_purple_circle 🟣 white_circle ⚪ black_circle ⚫ large_red_square 🟥 large_green_square 🟩
        small_red_triangle 🔺 small_blue_diamond 🔹 large_blue_diamond 🔷 large_orange_diamond 🔶 copyright ©️
        registered ®️ tm ™️ zero 0️⃣ one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣ six 6️⃣
        seven 7️⃣ eight 8️⃣ nine 9️⃣ keycap_ten 🔟 hash #️⃣ 1234 🔢 abc 🔤 a 🅰️ b 🅱️ o ⭕
        atom_symbol ⚛️ peace_symbol ☮️ yin_yang ☯️ trident 🔱 beginner 🔰 medical_symbol ⚕️
        wheelchair ♿ signal_strength 📶
        """
}
