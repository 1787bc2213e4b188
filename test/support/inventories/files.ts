/** Inventory files that Ansible and this program must read alike. */
export const SAME_FILES: Readonly<Record<string, string>> = {
  'groups.ini': `# the first hosts are in no group
alone ansible_host=192.0.2.7   # its address
lonely.example.org

[web]
web[01:03].example.org http_port=80 name="two words" # a comment
web1:2222 ansible_user=deploy
[2001:db8::1]:2022 ansible_user=six

[db]
db-[a:c] ansible_connection=ssh
db[0:8:4]
web1

[web:vars]
ansible_port=2201
plain=some text # kept
quoted='a # b'
octal=007
hex=0x1F
big=12345678901234567890123
float=1e3
negative=-5
minus=1-2
under=1_000
empty=
equals=a=b
words=one, two
bracket=[two:three]

[prod:children]
web
db
[prod:vars]
ansible_user=admin
color=red
[db:vars]
color=blue
[empty]
`,
  'later.ini': `[top:children]
below
[below:vars]
x=1
[below]
h1
[other]
h1 x=3
h2
[all:vars]
x=0
y=True
z="True"
`,
  'plain.yaml': `all:
  hosts:
    mail.example.com: {ansible_port: 2222}
    "10": null
  vars:
    ntp: [a.example, b.example]
    yes_is_true: yes
    no_quoted: "no"
    octal: 0644
    hex: 0xFF
    binary: 0b101
    time: 1:30
    float: 1.10
    whole: 1.0
    exponent: 1.5e+3
    no_exponent: 1e3
    under: 1_000
    nothing: ~
    nothing_too:
    date: 2001-12-14
    letter: y
    big: 123456789012345678901234567890
    text: |
      two
      lines
    folded: >
      a
      b
    umlaut: "wéb \\U0001F600"
    nested: {a: {b: [1, {c: d}]}}
  children:
    web:
      hosts:
        web[1:3].example.org:
          ansible_user: deploy
          weight: 5
      vars: {tier: front}
      children:
        edge:
          hosts: web2.example.org
          vars: {tier: edge}
    prod:
      children:
        web:
        db:
          hosts: {db1: , db2: {ansible_become: yes, ansible_become_user: postgres}}
          vars: {tier: back, ansible_group_priority: 10}
    ungrouped:
      hosts: {spare: }
`,
  'json.yaml': `{"all": {"children": {
  "a": {"hosts": {"h1": {"x": 1, "s": "1"}}},
  "b": {"hosts": {"h1": {}, "h2": {}}}
}}}`,
  'priority.yaml': `a:
  hosts: {h: }
  vars: {v: a, ansible_group_priority: 10}
b:
  hosts: {h: }
  vars: {v: b, w: b}
c:
  children: {b: }
  vars: {v: c, w: c, u: c}
`,
  'anchors.yaml': `all:
  vars: &common
    zone: &zone [a, b]
    port: 22
    tags: {x: 1}
web:
  vars:
    <<: *common
    name: web
  hosts: &hosts
    web1: {zones: *zone}
    web2:
db:
  vars:
    name: db
    <<: [{kept: yes, more: 1}, *common]
  hosts:
    <<: *hosts
    db1:
`,
};
